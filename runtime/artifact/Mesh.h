// A rank's coordinates on a plan's mesh, its groups, and its blocks of sharded tensors, with the
// conventions of program.proto: the first mesh axis is major in the rank number; a sharded dim is
// divided into blocks of ceil(size / parts), of which the last ones are padded.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Mesh.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::artifact {

// The plan's mesh, and its inverse.
Mesh meshOf(const plan::Plan &plan);
void setMesh(const Mesh &mesh, plan::Plan &plan);

// The number of ranks of the plan: the product of the sizes of its mesh axes.
uint32_t rankCount(const plan::Plan &plan);

// One coordinate per mesh axis; the first axis is major in `rank`.
std::vector<uint32_t> coordinatesOf(const plan::Plan &plan, uint32_t rank);

// The ranks that differ from `rank` only in their coordinates on `axes`, `rank` included, by their
// index in the group (the first of `axes` is major).
std::vector<uint32_t> groupOf(const plan::Plan &plan, uint32_t rank,
                              std::span<const uint32_t> axes);

// The part of a whole tensor on one rank: one entry per dim, in elements.
struct RankBlock {
  std::vector<int64_t> begin;  // its offset in the whole tensor
  std::vector<int64_t> extent; // its size inside the tensor; may be 0 on the last ranks
  std::vector<int64_t> shape;  // its size with padding; equal on all ranks
  // The number of elements of `shape`.
  int64_t elements() const;
};

// The block of `tensor` on `rank`.
RankBlock blockOf(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank);

// Bytes of one element; 0 for a number that is not a DType.
uint64_t byteSize(plan::DType dtype);

// `f32`, `bf16`, … as users and messages name it.
std::string dtypeName(plan::DType dtype);

} // namespace cleave::artifact
