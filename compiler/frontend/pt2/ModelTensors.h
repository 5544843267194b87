// ModelTensors: the parameters, buffers and constants of an exported program, as arguments and
// constants of the step.
#pragma once

#include "compiler/frontend/pt2/GraphInterpreter.h"
#include "compiler/frontend/pt2/Symbols.h"
#include "compiler/frontend/pt2/Weights.h"
#include "compiler/frontend/step/StepBuilder.h"

#include <set>

namespace cleave::pt2 {

class ModelTensors {
public:
  // All references must outlive the object. Untied parameters are split in `interpreter`. Fails
  // where --tie or --untie names no parameter.
  ModelTensors(const Program &program, const Weights &weights, const Symbols &symbols,
               const frontend::ImportOptions &options, frontend::StepBuilder &step,
               emit::Emitter &emitter, GraphInterpreter &interpreter);

  // The value of an input of the kind Parameter, Buffer or Constant. An untied parameter has none
  // (null): each module that reads it gets its own.
  aten::IValue add(const InputSpec &input);
  // Writes `value` to the buffer `name` if the program takes that as an input.
  void writeBuffer(const std::string &name, const aten::IValue &value);
  // Adds the last value of each written buffer as a result of the step.
  void addStateResults();

  // Parameters that were split, and tensors without elements, for the user.
  std::vector<frontend::Remark> remarks() const;

private:
  struct State {
    mlir::BlockArgument argument;
    aten::TensorRef tensor;
  };

  mlir::Attribute sourceOf(const InputSpec &input, const torch::StridedTensor &data,
                           const std::string &name);
  mlir::BlockArgument addArgument(const InputSpec &input, const std::string &name,
                                  frontend::ArgumentRole role);
  mlir::BlockArgument addArgument(const InputSpec &input, const torch::StridedTensor &data,
                                  mlir::RankedTensorType type, const std::string &name,
                                  frontend::ArgumentRole role);
  aten::TensorRef handleOf(mlir::Value value, const InputSpec &input, const std::string &name);
  aten::TensorRef parameterNamed(const InputSpec &input, const std::string &name);
  aten::TensorRef parameter(const InputSpec &input);
  aten::IValue buffer(const InputSpec &input);
  aten::IValue constant(const InputSpec &input);
  // A constant or constant argument of this type with the elements of `stored`.
  aten::TensorRef constantOf(const InputSpec &input, const torch::StridedTensor &stored,
                             mlir::RankedTensorType type);
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
  std::set<std::string> written_; // buffers
  std::map<std::string, aten::TensorRef> parameters_;
  std::vector<std::pair<std::string, torch::StridedTensor>> data_; // of parameters, by first name
  std::vector<std::pair<std::string, State>> states_; // written buffers, in input order
  std::vector<frontend::Remark> remarks_;
  int absent_ = 0;         // tensors without elements
  std::string absentName_; // of the first
};

} // namespace cleave::pt2
