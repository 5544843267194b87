// SpaceToDepth: for GPUs, gives 16-bit convolutions and their gradients input channels in multiples
// of eight, which cuDNN's engines for tensor cores load 16 bytes at a time.
//
// Images have three channels. The blocks of pixels between two windows, `strides` long along each
// spatial dim, become channels ("space to depth"): a 7x7 convolution with strides of 2 on 3
// channels is a 4x4 convolution without strides on 12, and cutting an image into 16x16 patches is a
// 1x1 convolution on 768. Channels of zeros are added up to the next multiple of eight. The weight
// is rearranged and filled in the same way, so that each result sums the same products as before,
// and zeros.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// 16-bit channels in 16 bytes.
inline constexpr int64_t kChannels = 8;

// Rewrites the convolutions and gradients of 16-bit floats in one group, with static shapes, whose
// input channels are not a multiple of kChannels, unless a generated kernel computes them
// (dialects/graph/Direct.h). Convolutions with fewer than kChannels channels, with strides and
// without dilations move their strides into the channels; others only get more channels. Returns
// the number of rewritten ops.
int64_t applySpaceToDepth(mlir::func::FuncOp function);

// Registers --cleave-decompose-space-to-depth.
void registerSpaceToDepthPass();

} // namespace cleave::decompose
