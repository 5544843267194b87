// Precision: lets a forward step compute in low types, as torch.autocast does.
//
// An op's traits answer which type it computes in:
//   MatrixProduct   low: operands are cast to the policy's low type; sums are f32
//   WidePrecision   wide: 16-bit operands are cast to f32; with NarrowResult (batch norm), the
//                   first result is rounded to the type that the first operand had
//   neither         follows: the low type if all its operands that count have it, else f32
// Some products are wide all the same: those of positions and angles (WideProducts.h), and those in
// regions where the model file disables autocast, as all ops there (F32Region.h). The bias of an
// attention is added to f32 scores in the type that it has.
//
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

// What a policy has made of a step, for the user.
struct Summary {
  int64_t lowProducts = 0;               // products of 16-bit floats
  std::vector<std::string> wideProducts; // names of those of positions and angles (WideProducts.h)
  int64_t ruledProducts = 0;             // f32 products by the user's rules
  int64_t regionOps = 0;                 // ops in regions that compute in f32 (F32Region.h)

  // `45 products in bf16; 1 in f32, of positions or angles (rotary_emb/matmul)`.
  std::string text(const Policy &policy) const;
};

// Rewrites the ops of `step` by the policy, and drops the borders of regions. Only values that are
// f32 change their types. Reports an error at a rule that matches no op. Fills in `summary` if it
// is not null.
mlir::LogicalResult applyPolicy(mlir::func::FuncOp step, const Policy &policy,
                                Summary *summary = nullptr);

// Lets the products whose sums or rearrangements make up `gradient`, an f32 tensor, store f32
// instead of 16-bit floats that are cast. Returns the gradient.
mlir::Value widenGradient(mlir::Value gradient);

// Stores weight gradients of convolutions in the type of the operands and casts them to f32
// afterwards. cuDNN has no engine with 16-bit operands and an f32 result.
void narrowConvolutionGradients(mlir::func::FuncOp step);

// Registers --cleave-precision.
void registerPrecisionPasses();

} // namespace cleave::precision
