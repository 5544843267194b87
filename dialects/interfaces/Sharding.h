// Sharding: how one logical tensor is laid out over the ranks of a mesh. The plain-data form of the
// attributes of the mesh dialect; no MLIR.
//
// A dim of size n that is split over k ranks has k blocks of ceil(n/k) elements; the last blocks
// may hold fewer elements of the tensor, or none. Every rank's buffer has the size of a full block;
// elements past the end of the logical tensor are padding with undefined content.
#pragma once

#include "runtime/base/Mesh.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

// How partial results combine.
enum class ReduceKind : int { Sum = 0, Max = 1, Min = 2 };

// The layout of one tensor. Axes are indices into Mesh::axes.
struct Sharding {
  // For each dim of the tensor the axes that split it, major to minor.
  std::vector<std::vector<int>> dims;
  // The axes along which every rank holds one summand (or one candidate for max/min) of the value,
  // sorted. An axis occurs at most once in dims and partial together; the tensor is replicated
  // along all other axes.
  std::vector<int> partial;
  ReduceKind reduce = ReduceKind::Sum; // meaning of `partial`

  // The layout of a tensor with `rank` dims that every rank holds as a whole.
  static Sharding replicated(size_t rank) { return {std::vector<std::vector<int>>(rank), {}, {}}; }
  bool isReplicated() const;
  bool operator==(const Sharding &) const = default;
  auto operator<=>(const Sharding &) const = default;

  // As text: `[dp, _, dp+tp] partial(tp)`.
  std::string str(const Mesh &mesh) const;
};

// The shape of every rank's block of a tensor of this shape, padding included.
std::vector<int64_t> localShape(const std::vector<int64_t> &shape, const Sharding &sharding,
                                const Mesh &mesh);

// The position in the logical tensor at which the block of `rank` begins, per dim (may lie past the
// end).
std::vector<int64_t> localOffset(const std::vector<int64_t> &shape, const Sharding &sharding,
                                 const Mesh &mesh, int64_t rank);

} // namespace cleave
