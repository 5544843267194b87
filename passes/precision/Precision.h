// Precision: lets a forward step compute in low types, as torch.autocast does.
//
// An op's traits answer which type it computes in:
//   MatrixProduct   low: operands are cast to the policy's low type; sums are f32
//   WidePrecision   wide: 16-bit operands are cast to f32
//   neither         follows: the low type if all its operands that count have it, else f32
// Numbers (tensors without dims, and splat constants) do not count, and neither does the bias of a
// product: the vector of parameters in a linear pointwise op whose other operand is a product.
// A number that the low type does not represent is not rounded: the op computes in f32, and its
// result is rounded, as PyTorch's kernels of low types do with Python's numbers.
//
// Arguments and results of the step keep their types: parameters are f32, and every use casts them.
// The pass runs before differentiation. Each use has a cast of its own, so that gradients of
// several uses are added in f32; common subexpression elimination merges the casts.
#pragma once

#include "passes/precision/Policy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::precision {

// Rewrites the ops of `step` by the policy. Only values that are f32 change their types. Reports an
// error at a rule that matches no op.
mlir::LogicalResult applyPolicy(mlir::func::FuncOp step, const Policy &policy);

// Lets the products whose sums or rearrangements make up `gradient`, an f32 tensor, store f32
// instead of 16-bit floats that are cast. Returns the gradient.
mlir::Value widenGradient(mlir::Value gradient);

// Registers --cleave-precision.
void registerPrecisionPasses();

} // namespace cleave::precision
