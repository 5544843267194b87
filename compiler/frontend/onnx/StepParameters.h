// StepParameters: the planned parameters, states and constants of the model in the step.
#pragma once

#include "compiler/frontend/onnx/StepTensors.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include "llvm/ADT/MapVector.h"

namespace cleave::onnx {

class StepParameters {
public:
  // Adds an argument or constant per parameter of the plan. The operands outlive this object.
  StepParameters(const Graph &graph, const ParameterPlan &plan, frontend::StepBuilder &step,
                 StepTensors &tensors);

  const ParameterPlan &plan() const { return plan_; }
  // The parameter as the reference reads it; of a state, its value at this point of the step.
  mlir::Value valueOf(const ParameterRef &ref);
  // The same for input `input` of node `node` of the main graph; null if it reads no parameter.
  mlir::Value valueAt(size_t node, size_t input);

  // Whether the value is the argument of a state.
  bool isState(mlir::Value value) const { return states_.contains(value); }
  // Makes `next` the value of the states whose value at this point is `state`. Fails if the types
  // differ.
  void replaceState(mlir::Value state, mlir::Value next);
  // Adds the results that replace states. A state that is only read becomes a constant argument.
  void addStateResults();

private:
  mlir::Value addParameter(const Graph &graph, const Parameter &parameter);

  const ParameterPlan &plan_;
  frontend::StepBuilder &step_;
  StepTensors &tensors_;
  std::vector<mlir::Value> parameters_;              // by index in the plan
  llvm::MapVector<mlir::Value, mlir::Value> states_; // argument -> value at this point of the step
};

} // namespace cleave::onnx
