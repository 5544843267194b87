// Workspace: the memory that the libraries of GPUs get for the algorithm of an instruction. Sizes
// in bytes; 0: none. Plain data.
//
// A library takes the fastest algorithm that needs no more. The limits are rules on the shapes
// only, so that a plan's memory is known without the library.
#pragma once

#include "runtime/base/AttentionScratch.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <initializer_list>

namespace cleave::bufferize {

// Of a product with `results` elements: the f32 sums of 16 parts of the contraction, at most
// 32 MiB.
int64_t productWorkspace(int64_t results);

// Workspace of a convolution. cuDNN may copy each of the three tensors, given by their shapes, into
// a channels-last layout that pads channels to a multiple of eight, unless the tensor has this
// layout already. It copies all tensors of a convolution in groups.
int64_t convolutionWorkspace(std::initializer_list<llvm::ArrayRef<int64_t>> shapes,
                             int64_t elementBytes, bool isChannelsLast, int64_t groups);

// Workspace of an attention of 16-bit floats, or of its gradient. A gradient's begins with
// attentionSumBytes(). cuDNN then stores the gradient of each score, with queries and keys rounded
// up to its tiles, so that no sum depends on the order of threads; with grouped heads also the
// gradients of key and value per head. 64 KiB cover the rest, which is 256 bytes in version 9.19.
int64_t attentionWorkspace(const AttentionSizes &sizes, bool isGradient);

} // namespace cleave::bufferize
