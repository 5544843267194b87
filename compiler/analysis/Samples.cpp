// One visit per op: the factor that runs over samples in its operands has to run over them in its
// results.
#include "compiler/analysis/Samples.h"

#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Step.h"

using namespace mlir;

namespace cleave::analysis {

namespace {

// A factor of a rule, and where the samples are within it.
struct Within {
  int factor;
  int64_t outer;
};

// The number of values of a factor; nothing if it has symbols.
std::optional<int64_t> sizeOf(const FactorRule &rule, int factor) {
  return rule.factors[factor].size.constant();
}

// The factor of a dim that has the samples, `outer` values outside of them; nothing if they are
// spread over several factors.
std::optional<Within> factorIn(const FactorRule &rule, const std::vector<int> &dim, int64_t outer,
                               int64_t count) {
  int64_t before = 1; // values of the factors outside
  for (int factor : dim) {
    std::optional<int64_t> size = sizeOf(rule, factor);
    if (dim.size() == 1)
      return Within{factor, outer};
    if (!size || *size == 0)
      return std::nullopt;
    if (before * *size > outer)
      return outer % before == 0 && before * *size % (outer * count) == 0
                 ? std::optional(Within{factor, outer / before})
                 : std::nullopt;
    before *= *size;
  }
  return std::nullopt;
}

} // namespace

Samples::Samples(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    Value argument = step.getArgument(i);
    const graph::Shape shape = graph::shapeOf(argument);
    if (!graph::isFed(step, i) || shape.empty() ||
        !llvm::all_of(shape, [](const Polynomial &size) { return size.isConstant(); }))
      continue;
    if (const int64_t count = *shape[0].constant(); count > 1)
      places_[argument] = {0, 1, count};
  }
  for (Operation *op : graph::opsOf(step))
    follow(op);
}

void Samples::follow(Operation *op) {
  for (Value operand : op->getOperands())
    if (Operation *meeting = meetings_.lookup(operand)) {
      for (Value result : op->getResults())
        meetings_[result] = meeting;
      return;
    }
  bool isAny = false;
  if (followBy(op, isAny) || !isAny)
    return;
  for (Value result : op->getResults()) {
    places_.erase(result);
    meetings_[result] = op;
  }
}

// Places the results; false if samples meet. `isAny`: an operand has samples.
bool Samples::followBy(Operation *op, bool &isAny) {
  isAny = llvm::any_of(op->getOperands(), [&](Value v) { return places_.contains(v); });
  auto ruled = dyn_cast<graph::FactorRuleInterface>(op);
  if (!isAny || !ruled)
    return false;
  const FactorRule rule = ruled.getFactorRule();
  std::optional<Within> found;
  int64_t count = 1;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    auto place = places_.find(operand);
    if (place == places_.end())
      continue;
    count = place->second.count;
    std::optional<Within> within =
        factorIn(rule, dims[place->second.dim], place->second.outer, count);
    if (!within || (found && (found->factor != within->factor || found->outer != within->outer)))
      return false;
    found = within;
  }
  if (rule.factors[found->factor].kind != FactorKind::PassThrough)
    return false;
  for (auto [result, dims] : llvm::zip(op->getResults(), rule.results)) {
    std::optional<Place> place;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      int64_t outer = found->outer;
      for (int factor : dim) {
        if (factor == found->factor)
          place = {d, outer, count};
        outer *= sizeOf(rule, factor).value_or(1);
      }
    }
    if (!place)
      return false;
    places_[result] = *place;
  }
  return true;
}

} // namespace cleave::analysis
