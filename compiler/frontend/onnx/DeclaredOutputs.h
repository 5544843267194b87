// What a file says about its outputs, beside what they come to: a file that contradicts itself was damaged or edited,
// or is understood otherwise than it was meant.
#pragma once

#include "compiler/frontend/step/Remark.h"
#include "compiler/frontend/onnx/file/Model.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace cleave::onnx {

// A warning where element type, rank or a size that is known on both sides differ; nothing where the file is silent.
std::optional<frontend::Remark> contradiction(const ValueInfo &declared, mlir::Value computed);

} // namespace cleave::onnx
