// Bfloats: casts of bf16 to f32 in few instructions.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cleave::codegen {

// Rewrites the casts from bf16 to f32 in emitted kernels; such a cast appends 16 zero bits. An
// element of a vector becomes a shift or a mask of the word that holds it; a number that
// was rounded from f32 becomes the result of the instruction that rounds two numbers, of which the
// other is zero. ptxas would take two instructions for every second element, and one of the slow
// unit for functions to round.
void expandBfloats(mlir::ModuleOp module);

} // namespace cleave::codegen
