// Follows values to parameters, and to the products that read them.
#include "compiler/planner/report/Places.h"

#include <set>

namespace cleave::planner {

const Argument *argumentBehind(const StepModel &model, int value) {
  while (model.values[value].producer >= 0) {
    const Op &op = model.ops[model.values[value].producer];
    if (op.operands.size() != 1)
      return nullptr;
    value = op.operands[0];
  }
  const int argument = model.values[value].argument;
  return argument < 0 ? nullptr : &model.arguments[argument];
}

const Argument *parameterBehind(const StepModel &model, int value) {
  const Argument *argument = argumentBehind(model, value);
  return argument && argument->role == Role::Parameter ? argument : nullptr;
}

// The first parameter that an op reads; null if there is none.
static const Argument *parameterOf(const StepModel &model, const Op &op) {
  for (int value : op.operands)
    if (const Argument *parameter = parameterBehind(model, value))
      return parameter;
  return nullptr;
}

// The parameter of the first product of the forward pass that reads a result of the op, perhaps
// behind ops of a single operand; null if there is none.
static const Argument *parameterAfter(const StepModel &model, const Op &op) {
  std::set<int> readers; // in program order
  auto addReaders = [&](const Op &producer) {
    for (int value : producer.results)
      for (const Use &use : model.values[value].uses)
        if (model.ops[use.op].part == Part::Forward)
          readers.insert(use.op);
  };
  for (addReaders(op); !readers.empty(); readers.erase(readers.begin())) {
    const Op &reader = model.ops[*readers.begin()];
    if (reader.work.isProduct)
      if (const Argument *parameter = parameterOf(model, reader))
        return parameter;
    if (reader.operands.size() == 1)
      addReaders(reader);
  }
  return nullptr;
}

Places::Places(const StepModel &model) : model_(model) {
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (model.ops[i].part == Part::Forward)
      forward_.emplace(model.ops[i].name, i);
}

// Gradients and recomputed ops have the name of the original op, where it has one.
std::string Places::of(int index) const {
  const Op &op = model_.ops[index];
  if (op.part == Part::Update)
    return "";
  const auto origin = forward_.find(op.name.substr(0, op.name.rfind(", recomputed")));
  const Op &forward = origin == forward_.end() ? op : model_.ops[origin->second];
  const std::string place =
      op.work.isProduct && !op.work.isAttention ? ofProduct(op, forward) : ofOther(op, forward);
  return op.isRecomputed && !place.empty() ? place + ", recomputed" : place;
}

std::string Places::ofProduct(const Op &op, const Op &forward) const {
  const Argument *parameter = parameterOf(model_, forward);
  if (!parameter)
    return "";
  if (op.part == Part::Forward || op.isRecomputed)
    return parameter->name;
  return parameter->name + (parameterOf(model_, op) ? ", input gradient" : ", weight gradient");
}

std::string Places::ofOther(const Op &op, const Op &forward) const {
  const std::string gradient = op.part == Part::Forward || op.isRecomputed ? "" : ", gradient";
  const Argument *parameter = parameterOf(model_, forward);
  if (parameter && forward.operands.size() == 1)
    return "copy of " + parameter->name + gradient;
  if (const Argument *after = parameterAfter(model_, forward))
    return "input of " + after->name + gradient;
  return parameter ? parameter->name + gradient : "";
}

} // namespace cleave::planner
