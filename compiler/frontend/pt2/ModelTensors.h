// ModelTensors: the parameters, buffers and constants of an exported program, as arguments and
// constants of the step.
#pragma once

#include "compiler/frontend/pt2/GraphInterpreter.h"
#include "compiler/frontend/pt2/Symbols.h"
#include "compiler/frontend/pt2/Weights.h"
#include "compiler/frontend/step/ModelStates.h"

namespace cleave::pt2 {

class ModelTensors {
public:
  // All references must outlive the object. Untied parameters are split in `interpreter`; tensors
  // that the program may write are added to `states`. Fails where --tie or --untie names no
  // parameter.
  ModelTensors(const Program &program, const Weights &weights, const Symbols &symbols,
               const frontend::ImportOptions &options, frontend::StepBuilder &step,
               frontend::ModelStates &states, emit::Emitter &emitter,
               GraphInterpreter &interpreter);

  // The value of an input of the kind Parameter, Buffer or Constant. An untied parameter has none
  // (null): each module that reads it gets its own.
  aten::IValue add(const InputSpec &input);
  // Writes `value` to the parameter or buffer `name`; fails if the program does not take that as an
  // input.
  void write(const std::string &name, mlir::Value value);
  // Reports the last values of all tensors to `states`. Fails where a written tensor shares memory
  // with another one.
  void reportStates();

  // Parameters that were split, and tensors without elements, for the user.
  std::vector<frontend::Remark> remarks() const;

private:
  // A tensor in the step, and the memory of the archive that it begins with.
  struct Held {
    std::string name;
    torch::StridedTensor data;
    aten::TensorRef tensor;
  };

  mlir::Attribute sourceOf(const InputSpec &input, const torch::StridedTensor &data,
                           const std::string &name);
  mlir::BlockArgument addArgument(const InputSpec &input, const torch::StridedTensor &data,
                                  mlir::RankedTensorType type, const std::string &name, Role role);
  aten::TensorRef hold(mlir::Value value, const InputSpec &input, const torch::StridedTensor &data,
                       const std::string &name);
  // The tensor that begins with the same elements of the archive; null: there is none so far.
  const Held *heldWith(const torch::StridedTensor &data) const;
  aten::TensorRef parameterNamed(const InputSpec &input, const std::string &name);
  aten::TensorRef parameter(const InputSpec &input);
  // A buffer or constant.
  aten::IValue buffer(const InputSpec &input);
  void checkShared(const Held &a, const Held &b);
  // The buffer `name` of this type before the step: a constant or an argument.
  mlir::Value firstValue(const InputSpec &input, const torch::StridedTensor &data,
                         mlir::RankedTensorType type, const std::string &name);
  std::string tiedTo(const std::string &name) const;
  // The stored elements of a parameter.
  torch::StridedTensor parameterData(const std::string &name) const;

  const Program &program_;
  const Weights &weights_;
  const Symbols &symbols_;
  const frontend::ImportOptions &options_;
  frontend::StepBuilder &step_;
  emit::Emitter &emitter_;
  GraphInterpreter &interpreter_;
  frontend::ModelStates &states_;
  std::map<std::string, aten::TensorRef> byName_;    // parameters and buffers, by every name
  std::map<std::string, std::vector<Held>> byEntry_; // by the archive's entry
  std::vector<frontend::Remark> remarks_;
  int absent_ = 0;         // tensors without elements
  std::string absentName_; // of the first
};

} // namespace cleave::pt2
