// ModelOutputs: the model's outputs as results of the step.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/node/Binding.h"
#include "compiler/frontend/onnx/node/Strings.h"
#include "compiler/frontend/step/StepBuilder.h"

namespace cleave::onnx {

// Adds an output: a tensor under its name, the elements of a sequence x as x.0, x.1, …, nothing for
// an optional without an element. Strings must be known; the module holds them
// (dialects/graph/KnownStrings.h). Throws a Failure if they are not.
void addOutput(const std::string &name, const Binding &computed, frontend::StepBuilder &step,
               const StringPool &strings);

// A warning where the declared element type, rank or a constant size differs from the computed
// tensor: the file was damaged or edited, or Cleave reads it differently than its author. None
// where they agree or the declaration is incomplete.
std::optional<frontend::Remark> contradiction(const ValueInfo &declared, mlir::Value computed);

} // namespace cleave::onnx
