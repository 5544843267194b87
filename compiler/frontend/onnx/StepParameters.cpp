// See StepParameters.h.
#include "compiler/frontend/onnx/StepParameters.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "dialects/graph/Build.h"

namespace cleave::onnx {

using mlir::Value;

StepParameters::StepParameters(const Graph &graph, const ParameterPlan &plan,
                               frontend::StepBuilder &step, StepTensors &tensors)
    : plan_(plan), step_(step), tensors_(tensors) {
  for (const Parameter &parameter : plan.parameters)
    parameters_.push_back(addParameter(graph, parameter));
}

Value StepParameters::addParameter(const Graph &graph, const Parameter &parameter) {
  const StoredTensor &tensor = graph.initializers[parameter.initializer];
  if (parameter.zeros) {
    mlir::Type element = graph::fromElementType(tensor.element(), step_.builder().getContext());
    auto type = mlir::RankedTensorType::get({*parameter.zeros}, element);
    return step_.addArgument(Role::Parameter, type, parameter.name, graph::TensorOrigin());
  }
  if (parameter.kind == ParameterKind::Constant)
    return tensors_.constant(tensor, parameter.name);
  bool isState = parameter.kind == ParameterKind::State;
  StoredTensor stored = tensor;
  if (parameter.dims)
    stored.dims = *parameter.dims;
  Value argument = tensors_.addArgument(isState ? Role::State : Role::Parameter, stored,
                                        parameter.name, parameter.storedTransposed);
  if (isState)
    states_[argument] = argument;
  return argument;
}

Value StepParameters::valueOf(const ParameterRef &ref) {
  Value value = parameters_[ref.parameter];
  if (auto state = states_.find(value); state != states_.end())
    value = state->second;
  if (ref.transposed)
    value = graph::buildTranspose(step_.builder(), value, {1, 0});
  if (!ref.dims)
    return value;
  return graph::buildReshape(step_.builder(), value,
                             graph::Shape(ref.dims->begin(), ref.dims->end()));
}

Value StepParameters::valueAt(size_t node, size_t input) {
  auto ref = plan_.uses.find({node, input});
  return ref == plan_.uses.end() ? Value() : valueOf(ref->second);
}

void StepParameters::replaceState(Value state, Value next) {
  if (next.getType() != state.getType())
    fail("gives running statistics another shape or type, expected that they keep theirs");
  for (auto &[argument, current] : states_)
    if (current == state)
      current = next;
}

void StepParameters::addStateResults() {
  for (Value parameter : parameters_) {
    auto state = states_.find(parameter);
    if (state == states_.end())
      continue;
    auto argument = mlir::cast<mlir::BlockArgument>(parameter);
    if (state->second != parameter) // else only read
      step_.addStateResult(argument, state->second);
  }
}

} // namespace cleave::onnx
