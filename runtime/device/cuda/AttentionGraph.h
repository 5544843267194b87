// AttentionGraph: attention and its gradient as graphs of cuDNN operations, in the form that cuDNN
// recognises as one of its kernels. Private to this folder.
//
// Forward, for each head:
//
//   scores  = scale * query keyᵀ, minus infinity for hidden keys
//   lse     = max(scores) + log(sum(exp(scores - max(scores))))
//   weights = exp(scores - max(scores)) / sum(exp(scores - max(scores)))
//   result  = weights value
//
// The gradient recomputes the weights, and from them
//
//   weights    = exp(scores - lse)
//   sums       = sum of grad * result over the columns, in memory
//   valueGrad  = weightsᵀ grad
//   scoresGrad = scale * weights * (grad valueᵀ - sums)
//   keyGrad    = scoresGradᵀ query
//   queryGrad  = scoresGrad key
//
// For this graph, cuDNN stores scoresGrad in its workspace and multiplies it by the keys later. For
// one that sums queryGrad in f32 in memory, it adds the parts by atomic instructions in any order,
// and its numerical notes do not say so.
#pragma once

#include "runtime/device/cuda/DnnGraph.h"

namespace cleave::device {

// Why cuDNN of this version cannot compute this instruction; empty if it can.
std::string attentionRefusal(const plan::Attention &attention, DType dtype, size_t version);

// The bytes at the beginning of the workspace that are a tensor of the graph.
uint64_t attentionGraphBytes(const plan::Attention &attention);

// The addresses of the graph's tensors.
DnnGraph::Addresses attentionAddresses(const plan::Attention &attention,
                                       const AttentionOperands &operands);

// Adds the operations to a new graph with these addresses; `type` is the cudnnDataType_t of the
// matrices.
Status buildAttention(DnnGraph &graph, const plan::Attention &attention, int type);

} // namespace cleave::device
