// Mesh and Sharding: how the ranks are arranged, and how one logical tensor is laid out over them.
// The plain-data form of the attributes of the mesh dialect; no MLIR.
//
// A dim of size n that is split over k ranks has k blocks of ceil(n/k) elements; the last blocks
// may hold fewer elements of the tensor, or none. Every rank's buffer has the size of a full block;
// elements past the end of the logical tensor are padding with undefined content.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

// How partial results combine.
enum class ReduceKind : int { Sum = 0, Max = 1, Min = 2 };

// One named dim of the mesh.
struct MeshAxis {
  std::string name; // `dp`, `tp`, …
  int64_t size = 1; // ranks along it
  bool operator==(const MeshAxis &) const = default;
};

// The ranks as an n-d array, first axis major: rank = (c0 * size1 + c1) * size2 + c2 ….
struct Mesh {
  std::vector<MeshAxis> axes;

  // The number of ranks.
  int64_t ranks() const;
  // The number of ranks of a group that spans the axes with these indices.
  int64_t ranksAlong(const std::vector<int> &axisIndices) const;
  // The coordinate of `rank` on every axis.
  std::vector<int64_t> coordinates(int64_t rank) const;
  // The position of `rank` in the group spanned by the axes (first axis major).
  int64_t indexAlong(int64_t rank, const std::vector<int> &axisIndices) const;
  // The ranks of the group that spans the axes and contains `rank`, ordered by indexAlong.
  std::vector<int64_t> group(int64_t rank, const std::vector<int> &axisIndices) const;
  // The index of the axis with this name, or -1.
  int axisIndex(const std::string &name) const;
  bool operator==(const Mesh &) const = default;
};

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
