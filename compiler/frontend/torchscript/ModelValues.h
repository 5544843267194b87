// ModelValues: the tensors of a TorchScript model as arguments and constants of one step, and the
// results that replace written buffers.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/step/ModelStates.h"
#include "compiler/frontend/torchscript/KeptAttributes.h"
#include "compiler/frontend/torchscript/Model.h"

namespace cleave::torchscript {

class ModelValues {
public:
  // Tensors that the program may write are added to `states`. The references must outlive the
  // object; `emitter` builds ops in `step`.
  ModelValues(const torch::Archive &archive, const Model &model, frontend::ModelStates &states,
              frontend::StepBuilder &step, emit::Emitter &emitter)
      : archive_(archive), model_(model), states_(states), step_(step), emitter_(emitter) {}

  // The tensor model.tensors()[index]: a constant of the step if it is small and neither a
  // parameter nor a state, else an argument. Copies after the first are parameters of their own,
  // whose names end in their number.
  IValue addTensor(size_t index, int64_t copy = 0);
  // The archive's constant of this name (`c0`). Each tensor is added once, except those that
  // freezing merged.
  IValue constant(const std::string &name);
  // Reports the values of all tensors after the run to the states. Fails where the program assigns
  // to a trained parameter, gives the names of one tensor different values, or changes what cannot
  // be a state (KeptAttributes.h).
  void reportStates(const KeptAttributes &attributes);

private:
  IValue handleOf(mlir::Value value, const Stored &stored);
  mlir::Value addConstant(const Stored &stored);
  mlir::BlockArgument addArgument(const Stored &stored, ElementType element);
  // Reports the tensor that the program leaves in an attribute.
  void report(const std::string &path, const aten::TensorRef &tensor);

  const torch::Archive &archive_;
  const Model &model_;
  frontend::ModelStates &states_;
  frontend::StepBuilder &step_;
  emit::Emitter &emitter_;
  std::map<std::string, aten::TensorRef> handles_; // by name
  std::map<std::string, aten::TensorRef> left_;    // in the attributes after the run, by name
  std::map<size_t, IValue> constants_;             // by tensor
  std::map<size_t, int64_t> copies_;               // of tensors that freezing merged, by tensor
};

} // namespace cleave::torchscript
