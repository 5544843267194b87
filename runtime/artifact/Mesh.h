// Where a rank stands on a plan's mesh, which ranks share a group with it, and which block of a
// sharded tensor is its own. The conventions are those of program.proto: the first mesh axis is
// major in the rank number; a sharded dim is cut into blocks of ceil(size / parts), of which the
// last ones are padded.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::artifact {

// The product of the mesh axes' sizes: how many ranks the plan is for.
uint32_t rankCount(const plan::Plan &plan);

// One coordinate per mesh axis; the first axis is major in `rank`.
std::vector<uint32_t> coordinatesOf(const plan::Plan &plan, uint32_t rank);

// The ranks that differ from `rank` only in their coordinates on `axes`, by their index in the
// group (the first of `axes` is major). Contains `rank` itself; without axes it is alone.
std::vector<uint32_t> groupOf(const plan::Plan &plan, uint32_t rank,
                              std::span<const uint32_t> axes);

// The part of a whole tensor that one rank holds, one entry per dim, in elements.
struct Block {
  std::vector<int64_t> begin;  // where it begins in the whole tensor
  std::vector<int64_t> extent; // how much of it is inside the tensor; may be 0 on the last ranks
  std::vector<int64_t> shape;  // with padding: the same on all ranks
  // Elements in `shape`.
  int64_t elements() const;
};

// The block of `tensor` that `rank` holds.
Block blockOf(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank);

// Bytes of one element; 0 for a number that DType does not have.
uint64_t byteSize(plan::DType dtype);

// `f32`, `bf16`, … as users and messages name it.
std::string dtypeName(plan::DType dtype);

} // namespace cleave::artifact
