// Follows weights through copies to the products that read them.
#include "compiler/planner/model/WeightDims.h"

#include "compiler/planner/model/DimClasses.h"

#include <algorithm>
#include <tuple>

namespace cleave::planner {

// The classes of dims that ops of the forward part other than products sum over or need as a whole.
static std::vector<bool> neededWhole(const StepModel &model, const DimClasses &classes) {
  std::vector<bool> isNeeded(classes.limit());
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    if (op.part != Part::Forward || op.work.isProduct)
      continue;
    for (size_t f = 0; f < op.rule.factors.size(); ++f)
      if (op.rule.factors[f].kind != FactorKind::PassThrough)
        isNeeded[classes.ofFactor(static_cast<int>(i), f)] = true;
  }
  return isNeeded;
}

// The dim with the same factors as a dim of another operand or result; -1 if there is none.
static int dimLike(const FactorRule::Dims &dims, const std::vector<int> &factors) {
  const auto it = std::find(dims.begin(), dims.end(), factors);
  return it == dims.end() ? -1 : static_cast<int>(it - dims.begin());
}

// Whether the op makes one value of one.
static bool isCopy(const Op &op) { return op.operands.size() == 1 && op.results.size() == 1; }

namespace {

class Finder {
public:
  explicit Finder(const StepModel &model)
      : model_(model), classes_(model, Part::Forward),
        isNeededWhole_(neededWhole(model, classes_)) {}

  // The dim of a value by those that read it in the forward part.
  int byReaders(int index) const {
    const Value &value = model_.values[index];
    int found = -1;
    for (const Use &use : value.uses) {
      const Op &op = model_.ops[use.op];
      if (op.part != Part::Forward || value.shape.size() < 2)
        continue;
      const FactorRule::Dims &dims = op.rule.operands[use.operand];
      const int summed = lastSummed(op, dims);
      int dim = -1;
      if (summed >= 0 && op.readsSparsely(use.operand))
        return ofTable(use.op, dims, summed);
      if (summed >= 0)
        dim = ofProduct(use.op, dims, summed, value.shape);
      else if (isCopy(op))
        if (const int below = byReaders(op.results[0]); below >= 0)
          dim = dimLike(dims, op.rule.results[0][below]);
      found = dim >= 0 ? dim : found;
    }
    return found;
  }

private:
  static bool isOfOne(const std::vector<int> &dim) { return dim.size() == 1; }

  static int lastSummed(const Op &op, const FactorRule::Dims &dims) {
    int summed = -1;
    for (size_t d = 0; d < dims.size(); ++d)
      if (isOfOne(dims[d]) && op.rule.factors[dims[d][0]].kind == FactorKind::Reduction)
        summed = static_cast<int>(d);
    return summed;
  }

  // Whether only products sum over a dim of an operand or need it as a whole.
  bool isFree(int op, const std::vector<int> &dim) const {
    return isOfOne(dim) && model_.ops[op].rule.factors[dim[0]].kind != FactorKind::Replicated &&
           !isNeededWhole_[classes_.ofFactor(op, static_cast<size_t>(dim[0]))];
  }

  int ofTable(int op, const FactorRule::Dims &dims, int rows) const {
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      if (d != rows && isFree(op, dims[d]))
        return d;
    return rows;
  }

  int ofProduct(int op, const FactorRule::Dims &dims, int summed,
                const std::vector<int64_t> &shape) const {
    auto worth = [&](int d) { return std::tuple(isFree(op, dims[d]), shape[d], d == summed); };
    int best = summed;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      if (worth(d) > worth(best))
        best = d;
    return best;
  }

  const StepModel &model_;
  // In the forward part: ops that sum or update several parameters at once join all their dims.
  DimClasses classes_;
  std::vector<bool> isNeededWhole_; // by class
};

} // namespace

std::vector<int> weightDims(const StepModel &model) {
  const Finder finder(model);
  std::vector<int> dims(model.values.size(), -1);
  for (const Argument &argument : model.arguments)
    if (argument.role == Role::Parameter)
      dims[argument.value] = finder.byReaders(argument.value);
  for (const Op &op : model.ops)
    if (isCopy(op))
      if (const int dim = dims[op.operands[0]]; dim >= 0)
        dims[op.results[0]] = dimLike(op.rule.results[0], op.rule.operands[0][dim]);
  return dims;
}

} // namespace cleave::planner
