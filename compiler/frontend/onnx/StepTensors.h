// StepTensors: tensors of the file as values of the step: small ones as constants, others as
// arguments whose first value is read from the file.
#pragma once

#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/file/Weights.h"
#include "compiler/frontend/onnx/node/Strings.h"
#include "compiler/frontend/step/StepBuilder.h"

namespace cleave::onnx {

class StepTensors {
public:
  // The operands outlive this object.
  StepTensors(frontend::StepBuilder &step, WeightFiles &files, StringPool &strings)
      : step_(step), files_(files), strings_(strings) {}

  // Adds an argument that begins with the tensor's elements, or with their transpose.
  mlir::BlockArgument addArgument(Role role, const StoredTensor &tensor, const std::string &name,
                                  bool transposed = false);
  // The parameter of an initializer of a subgraph, under its own name; one argument however often
  // the subgraph is imported.
  mlir::Value subgraphParameter(const StoredTensor &tensor);
  // The tensor as a constant of the step, or, beyond kMaxConstantBytes, as a constant argument; one
  // argument however often it is asked for. Of strings: their numbers.
  mlir::Value constant(const StoredTensor &tensor, const std::string &name);

private:
  mlir::Value stringNumbers(const StoredTensor &tensor);
  mlir::Attribute sourceOf(const StoredTensor &tensor, bool transposed);
  mlir::Attribute sourceOf(const Initialisation &first);

  frontend::StepBuilder &step_;
  WeightFiles &files_;
  StringPool &strings_;
  std::map<const StoredTensor *, mlir::Value> arguments_; // looked up only
};

} // namespace cleave::onnx
