// Element types and origins of tensors in the plan's terms.
#pragma once

#include "runtime/artifact/program.pb.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace cleave::artifact {

plan::DType dtypeOf(mlir::Type element);

// From the attribute form of graph::TensorOrigin.
plan::TensorSource sourceOf(mlir::Attribute origin);

} // namespace cleave::artifact
