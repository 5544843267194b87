// The C++ side of OpInterfaces.td: traits, interfaces, and cloning. Algorithms ask for these
// instead of listing ops: `op->hasTrait<graph::LayoutOnly>()`,
// `isa<graph::PointwiseInterface>(op)`.
#pragma once

#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"

namespace cleave::graph {

// -- movement of elements -------------------------------------------------------------------------
// The result can be read as a strided view of operand 0: the op computes nothing, and takes no time
// where its operand is laid out in memory. Transpose, reshape, slice, reverse.
template <typename Op> class LayoutOnly : public mlir::OpTrait::TraitBase<Op, LayoutOnly> {};

// Permutes, splits or merges the dims of operand 0. The result has all elements of the operand, and
// positions within a dim keep their order. Transpose, reshape.
template <typename Op>
class DimRearrangement : public mlir::OpTrait::TraitBase<Op, DimRearrangement> {};

// Every element of the result is an element of the only operand. Transpose, reshape, slice,
// reverse, broadcast.
template <typename Op> class UnaryCopy : public mlir::OpTrait::TraitBase<Op, UnaryCopy> {};

// Every element of the result is an element of an operand, at a position that depends on shapes and
// attributes only. The ops of UnaryCopy, and concat.
template <typename Op> class ElementCopy : public mlir::OpTrait::TraitBase<Op, ElementCopy> {};

// The result has the elements of operand 0 in the same row-major order and can share its buffer.
// Reshape, and accumulate, which adds to its buffer in place.
template <typename Op> class BufferSharing : public mlir::OpTrait::TraitBase<Op, BufferSharing> {};

// The op reads only as many elements of operand 0 as its result has. Gather, slice of a block.
template <typename Op> class TableLookup : public mlir::OpTrait::TraitBase<Op, TableLookup> {};

// -- computation ----------------------------------------------------------------------------------
// Multiply-accumulates over summed dims: matrix products, convolutions and their gradients. Runs at
// the matrix rate of a device rather than its vector rate.
template <typename Op> class MatrixProduct : public mlir::OpTrait::TraitBase<Op, MatrixProduct> {};

// Scales operand 0 by statistics of its own elements. Layer, RMS and batch norm.
template <typename Op> class Normalization : public mlir::OpTrait::TraitBase<Op, Normalization> {};

// The gradient of an op with sliding windows (convolution, pooling). Sizes and indices of a model
// are never computed by one.
template <typename Op>
class WindowGradient : public mlir::OpTrait::TraitBase<Op, WindowGradient> {};

// Computes in f32 in mixed precision training: sums, and functions that amplify rounding errors or
// overflow 16-bit floats. An op of MatrixProduct computes in the low type; one of neither trait
// computes in the type of its operands (passes/precision/Precision.h).
template <typename Op> class WidePrecision : public mlir::OpTrait::TraitBase<Op, WidePrecision> {};

// An op of WidePrecision whose first result nevertheless has the type that its first operand had
// before it was cast to f32.
template <typename Op> class NarrowResult : public mlir::OpTrait::TraitBase<Op, NarrowResult> {};

// Evaluating the op on its operands does not give its value in a step: the value depends on symbols
// (sizes) or on all micro-batches (accumulate).
template <typename Op> class StepDependent : public mlir::OpTrait::TraitBase<Op, StepDependent> {};

// -- kernels --------------------------------------------------------------------------------------
// A compute op of kernel groups (passes/fuse/Groups.h): pointwise ops and reductions.
template <typename Op> class ComputeOp : public mlir::OpTrait::TraitBase<Op, ComputeOp> {};

// Costs nothing inside a kernel group, and is cloned into every group that reads it. Constant,
// iota, broadcast, reshape (passes/fuse/Groups.h has the exact conditions).
template <typename Op> class Clonable : public mlir::OpTrait::TraitBase<Op, Clonable> {};

// Never part of a kernel group: a group itself, and the boundary between micro-batches and update.
template <typename Op> class GroupBoundary : public mlir::OpTrait::TraitBase<Op, GroupBoundary> {};

// Outside of kernel groups, runs as a kernel of its own on dense operands and results. Gather,
// scatter, pooling, scan, sort.
template <typename Op> class OwnKernel : public mlir::OpTrait::TraitBase<Op, OwnKernel> {};

// The lowered op can write its result with any strides. Dot_general, kernel groups, concat.
template <typename Op> class StridedResult : public mlir::OpTrait::TraitBase<Op, StridedResult> {};

// The lowered op is one instruction that can write its result into the buffer of the step's
// argument that the result replaces. Dot_general, kernel groups, most collectives.
template <typename Op> class InPlaceResult : public mlir::OpTrait::TraitBase<Op, InPlaceResult> {};

// Builds a copy of `op` with the same attributes and regions on other operands and result types;
// returns its results.
llvm::SmallVector<mlir::Value> cloneWith(mlir::OpBuilder &b, mlir::Operation *op,
                                         mlir::ValueRange operands, mlir::TypeRange resultTypes);

} // namespace cleave::graph

#include "dialects/interfaces/OpInterfaces.h.inc"
