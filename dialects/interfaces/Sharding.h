// Mesh and Sharding: how the ranks are arranged, and how one logical tensor is laid out over them.
// The plain-data form of the attributes of the mesh dialect; no MLIR.
//
// A dim of size n that is split over axes of together k ranks is cut into k blocks of ceil(n/k);
// the last blocks may hold less than that, or nothing. Every rank's buffer has the full block; what
// lies past the end of the logical tensor is padding, whose content nobody may rely on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

// How partial results combine.
enum class ReduceKind : int { Sum = 0, Max = 1, Min = 2 };

struct MeshAxis {
  std::string name; // `dp`, `tp`, …
  int64_t size = 1; // ranks along it
  bool operator==(const MeshAxis &) const = default;
};

// The ranks as an n-d array, first axis major: rank = (c0 * size1 + c1) * size2 + c2 ….
struct Mesh {
  std::vector<MeshAxis> axes;

  int64_t ranks() const;
  // The ranks together along the axes with these indices.
  int64_t ranksAlong(const std::vector<int> &axisIndices) const;
  // The coordinate of `rank` on every axis.
  std::vector<int64_t> coordinates(int64_t rank) const;
  // The position of `rank` in the group spanned by the axes (first axis major).
  int64_t indexAlong(int64_t rank, const std::vector<int> &axisIndices) const;
  // The ranks of the group spanned by the axes that `rank` is in, ordered by indexAlong.
  std::vector<int64_t> group(int64_t rank, const std::vector<int> &axisIndices) const;
  // The index of the axis with this name, or -1.
  int axisIndex(const std::string &name) const;
  bool operator==(const Mesh &) const = default;
};

struct Sharding {
  // For each dim of the tensor the mesh axes (indices) it is split over, major to minor.
  std::vector<std::vector<int>> dims;
  // The axes along which every rank holds one summand (or one candidate for max/min) of the value,
  // sorted. An axis stands at most once in dims and partial together; on all others it is
  // replicated.
  std::vector<int> partial;
  ReduceKind reduce = ReduceKind::Sum; // meaning of `partial`

  static Sharding replicated(size_t rank) { return {std::vector<std::vector<int>>(rank), {}, {}}; }
  bool isReplicated() const;
  bool operator==(const Sharding &) const = default;
  auto operator<=>(const Sharding &) const = default;

  // `[dp, _, dp+tp] partial(tp)`.
  std::string str(const Mesh &mesh) const;
};

// The size of every rank's block of a tensor of this shape.
std::vector<int64_t> localShape(const std::vector<int64_t> &shape, const Sharding &sharding,
                                const Mesh &mesh);

// Where the block of `rank` begins in the logical tensor, per dim (may lie past the end).
std::vector<int64_t> localOffset(const std::vector<int64_t> &shape, const Sharding &sharding,
                                 const Mesh &mesh, int64_t rank);

} // namespace cleave
