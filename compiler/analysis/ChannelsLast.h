// ChannelsLast: which tensors of a step for GPUs lie channels-last in memory.
//
// cuDNN's engines with tensor cores compute on channels-last data; others convert it on every call.
// The order of the dims in memory is a property of a tensor's buffer alone: shapes stay [N, C,
// spatial…] and [O, I, kernel…].
#pragma once

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace cleave::analysis {

// The dims of a channels-last tensor, from major to minor: 0, 2, …, rank - 1, 1.
llvm::SmallVector<int64_t> channelsLastOrder(int64_t rank);

// Whether the op is a convolution, or a gradient of one, that a GPU's library computes on
// channels-last tensors: those of 16-bit floats.
bool isChannelsLastConvolution(mlir::Operation *op);

// Whether the op is a max pooling, or a gradient of one, for which GPUs have kernels whose threads
// own a few channels (passes/codegen/gpu/GpuMaxPool.h): its windows have no dilation and few
// elements, and each of them has an element in the input.
bool isSmallMaxPool(mlir::Operation *op);

// Whether the kernel or library call of the op takes channels-last tensors. Other gradients of
// poolings take planes: they are faster with copies around them.
bool takesChannelsLast(mlir::Operation *op);

// The tensors of a step. Channels-last are the operands and results of these convolutions, and
// whatever groups, pointwise ops and poolings compute elementwise from them, as long as all readers
// accept any order; also the pads and reshapes that convolutions read (SpaceToDepth.h). Copied to
// or from channels-last are operands that are arguments of the step or results of other ops, and
// gradients of weights: they meet the parameter, which is row-major.
class ChannelsLast {
public:
  // No tensors.
  ChannelsLast() = default;
  explicit ChannelsLast(mlir::func::FuncOp step);

  bool contains(mlir::Value value) const { return values_.contains(value); }

private:
  bool follows(mlir::Operation *op, mlir::Value result) const;

  llvm::DenseSet<mlir::Value> values_;
};

} // namespace cleave::analysis
