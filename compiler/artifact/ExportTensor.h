// ExportTensor: element types and sources of first values in the terms of the plan file.
#pragma once

#include "runtime/artifact/program.pb.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace cleave::artifact {

// The plan's number of an element type.
plan::DType dtypeOf(mlir::Type element);

// The source of a tensor's first value; `origin` is the attribute form of graph::TensorOrigin.
plan::TensorSource sourceOf(mlir::Attribute origin);

} // namespace cleave::artifact
