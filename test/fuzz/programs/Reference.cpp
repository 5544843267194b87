#include "test/fuzz/programs/Reference.h"

#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Step.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace cleave::fuzz {

// -- data -----------------------------------------------------------------------------------------

ProgramData::ProgramData(func::FuncOp step, const std::map<std::string, int64_t> &classes,
                         uint64_t seed)
    : seed_(seed) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (!graph::isPerMicroBatch(step, i))
      continue;
    std::string name = graph::argName(step, i).str();
    auto limit = [&](StringRef attribute, double otherwise) {
      auto value = step.getArgAttrOfType<FloatAttr>(i, attribute);
      return value ? value.getValueAsDouble() : otherwise;
    };
    auto known = classes.find(name);
    double high = known == classes.end() ? 1 : static_cast<double>(known->second);
    inputs_.push_back({name, step.getArgument(i).getType(),
                       limit("graph.low", known == classes.end() ? -1 : 0),
                       limit("graph.high", high)});
  }
}

Tensor ProgramData::tensor(const std::string &name, int64_t step, int64_t slot) const {
  auto input = llvm::find_if(inputs_, [&](const Input &i) { return i.name == name; });
  Tensor tensor(graph::toElementType(graph::elementTypeOf(input->type)),
                graph::staticShapeOf(input->type));
  std::mt19937_64 random(seed_ * 7919 + static_cast<uint64_t>(step * 64 + slot) * 104729 +
                         static_cast<uint64_t>(input - inputs_.begin()));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double unit = static_cast<double>(random() >> 11) * 0x1p-53,
           value = input->low + unit * (input->high - input->low);
    tensor.set(i, isFloat(tensor.type) ? value : std::floor(value));
  }
  return tensor;
}

std::vector<Tensor> ProgramData::inputs(int64_t step, int64_t slot) const {
  std::vector<Tensor> tensors;
  for (const Input &input : inputs_)
    tensors.push_back(tensor(input.name, step, slot));
  return tensors;
}

std::vector<Ensemble> firstValues(func::FuncOp step) {
  std::vector<Ensemble> values;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (graph::isFed(step, i))
      continue;
    std::optional<graph::TensorOrigin> origin = graph::originOf(step, i);
    Tensor tensor(graph::toElementType(graph::elementTypeOf(step.getArgument(i))),
                  graph::staticShapeOf(step.getArgument(i)), origin ? origin->fill : 0);
    if (origin && origin->kind == graph::TensorOrigin::Kind::Inline)
      tensor.values = origin->data.values;
    values.push_back({tensor});
  }
  return values;
}

// -- steps ----------------------------------------------------------------------------------------

static std::vector<std::vector<Tensor>> slotsOf(const ProgramData &data, const ProgramSpec &spec,
                                                int64_t step) {
  std::vector<std::vector<Tensor>> slots;
  for (int64_t slot = 0; slot < spec.accumulate; ++slot)
    slots.push_back(data.inputs(step, slot));
  return slots;
}

// For every argument, its index among the persistent ones.
static std::vector<size_t> persistentPositions(func::FuncOp step) {
  std::vector<size_t> positions(step.getNumArguments());
  size_t next = 0;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (!graph::isFed(step, i))
      positions[i] = next++;
  return positions;
}

Result<std::vector<StepResults>> interpretSteps(func::FuncOp step, const ProgramData &data,
                                                const ProgramSpec &spec) {
  std::vector<Ensemble> persistent = firstValues(step);
  std::vector<size_t> positions = persistentPositions(step);
  std::vector<StepResults> all;
  for (int64_t number = 0; number < spec.steps; ++number) {
    auto results = interpretEnsemble(step, persistent, slotsOf(data, spec, number),
                                     spec.seed + static_cast<uint64_t>(number));
    CLEAVE_TRY(results.status());
    StepResults &named = all.emplace_back();
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (std::optional<unsigned> alias = graph::aliasOf(step, i))
        persistent[positions[*alias]] = (*results)[i];
      named[graph::resultName(step, i).str()] = (*results)[i];
    }
  }
  return all;
}

// -- gradients ------------------------------------------------------------------------------------

namespace {

class GradientCheck {
public:
  GradientCheck(func::FuncOp step, const ProgramData &data, const ProgramSpec &spec)
      : step_(step), slots_(slotsOf(data, spec, 0)), positions_(persistentPositions(step)) {
    for (const Ensemble &ensemble : firstValues(step))
      start_.push_back(ensemble[0]);
    std::mt19937_64 random(spec.seed);
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (graph::resultRole(step, i) == Role::Loss)
        loss_ = i;
      if (graph::resultRole(step, i) != Role::Parameter)
        continue;
      Tensor direction = start_[positions_[*graph::aliasOf(step, i)]];
      for (double &value : direction.values)
        value = static_cast<double>(random()) / 0x1p63 - 1;
      directions_.push_back({i, positions_[*graph::aliasOf(step, i)], direction});
    }
  }

  std::string run(int64_t *count) {
    auto results = interpret::runStep(step_, start_, slots_);
    if (!results)
      return results.status().message();
    double loss = (*results)[loss_].values[0], stated = 0, terms = 0;
    for (const Direction &d : directions_)
      for (int64_t i = 0; i < d.along.size(); ++i) {
        double gradient = start_[d.argument].values[i] - (*results)[d.result].values[i];
        stated += gradient * d.along.values[i];
        terms += std::fabs(gradient * d.along.values[i]);
      }
    const double h = 1e-6;
    double right = (lossAt(h) - loss) / h, left = (loss - lossAt(-h)) / h,
           half = (lossAt(h / 2) - lossAt(-h / 2)) / h;
    double found = (right + left) / 2,
           noise = 1e-8 * (1 + std::fabs(loss)) + 1e-5 * (terms + std::fabs(found));
    if (!std::isfinite(found + stated) || std::fabs(right - left) > 100 * noise ||
        std::fabs(found - half) > noise) {
      ++count[static_cast<int>(Counted::Kinks)];
      return "";
    }
    ++count[static_cast<int>(Counted::Gradients)];
    if (std::fabs(found - stated) <= 4 * noise)
      return "";
    return "gradient: along a random direction the loss changes by " + std::to_string(found) +
           ", its gradient says " + std::to_string(stated);
  }

private:
  struct Direction {
    unsigned result;
    size_t argument; // among the persistent ones
    Tensor along;
  };

  double lossAt(double h) {
    std::vector<Tensor> args = start_;
    for (const Direction &d : directions_)
      for (int64_t i = 0; i < d.along.size(); ++i)
        args[d.argument].values[i] += h * d.along.values[i];
    auto results = interpret::runStep(step_, args, slots_);
    return results ? (*results)[loss_].values[0] : std::nan("");
  }

  func::FuncOp step_;
  std::vector<std::vector<Tensor>> slots_;
  std::vector<size_t> positions_;
  std::vector<Tensor> start_;
  std::vector<Direction> directions_;
  unsigned loss_ = 0;
};

} // namespace

std::string checkGradients(func::FuncOp step, const ProgramData &data, const ProgramSpec &spec,
                           int64_t *count) {
  return GradientCheck(step, data, spec).run(count);
}

} // namespace cleave::fuzz
