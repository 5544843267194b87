// Which of the algorithms that cuBLASLt proposes computes a product. Private to this folder.
#pragma once

#include "runtime/device/cuda/BlasTable.h"

#include <cstddef>
#include <span>

namespace cleave::device {

// The number of algorithms that the library is asked for.
constexpr int kProposedAlgorithms = 8;

// The index of the algorithm to take. `proposed` is not empty, in the library's order.
//
// The first one, unless it is a Hopper kernel (family 66 of cuBLASLt 12 and 13) in which all warps
// work on the same tile, so that the tensor cores idle while a tile is written, and another one has
// warps that take turns: one half writes a tile while the other half multiplies the next. That one
// is taken if it computes several tiles per SM, and its last round is as full (decision 0082).
//
// The choice depends on nothing but the library, so that repeated runs have the same results.
size_t chooseAlgorithm(const blas::BlasTable &table,
                       std::span<const blas::HeuristicResult> proposed);

} // namespace cleave::device
