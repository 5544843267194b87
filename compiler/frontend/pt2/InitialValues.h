// First values of tensors that an archive does not hold: those of models that were exported on
// PyTorch's meta device.
#pragma once

#include "compiler/frontend/pt2/Program.h"

#include "mlir/IR/Attributes.h"

namespace cleave::pt2 {

// The values that PyTorch's layers begin with, as a graph.source: those of the operator that reads
// the input. Null for a buffer that is not a statistic of a norm.
mlir::Attribute initialValue(const Program &program, const InputSpec &input,
                             mlir::MLIRContext *context);

} // namespace cleave::pt2
