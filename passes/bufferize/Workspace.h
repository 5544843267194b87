// Workspace: the memory that the libraries of GPUs get for the algorithm of an instruction. Sizes
// in bytes; 0: none. Plain data.
//
// A library takes the fastest algorithm that needs no more. The limits are rules on the shapes
// only, so that a plan's memory is known without the library.
#pragma once

#include <cstdint>

namespace cleave::bufferize {

// Of a product with `results` elements: the f32 sums of 16 parts of the contraction, at most
// 32 MiB.
int64_t productWorkspace(int64_t results);

// Of a convolution whose three tensors have so many bytes: copies of them in another memory order,
// at most 256 MiB.
int64_t convolutionWorkspace(int64_t tensorBytes);

// The sizes of an attention; `batch` is the product of the batch dims.
struct AttentionShape {
  int64_t batch, heads, groups, queries, keys, width, depth, elementBytes;
};
// Of an attention: four f32 numbers per row of the query.
int64_t attentionWorkspace(const AttentionShape &shape);
// Of its gradient: also the query's gradient in f32 and, if heads share keys and values, the
// gradients of these for each head.
int64_t attentionGradientWorkspace(const AttentionShape &shape);

} // namespace cleave::bufferize
