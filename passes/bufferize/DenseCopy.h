// Views that are whole buffers, and copies into such buffers. Orders of dims are from major to
// minor; an empty one is row-major.
#pragma once

#include "passes/bufferize/ProgramBuilder.h"

namespace cleave::bufferize {

// Whether the view is a whole buffer with its dims in this order.
bool isWhole(const View &view, llvm::ArrayRef<int64_t> order = {});

// Copies the view into a new buffer with its dims in this order.
View copyToDense(ProgramBuilder &program, const View &view, llvm::ArrayRef<int64_t> order = {});

// Copies the view into a new dense buffer of this element type.
View copyConverted(ProgramBuilder &program, const View &view, mlir::Type element);

} // namespace cleave::bufferize
