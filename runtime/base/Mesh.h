// Mesh: how the ranks are arranged, as an n-d array with named axes. Options, the planner, the mesh
// dialect and plans have it in this form; MeshCoordinates.h computes with the sizes alone.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

// One named dim of the mesh.
struct MeshAxis {
  std::string name; // `dp`, `tp`, …
  int64_t size = 1; // ranks along it
  bool operator==(const MeshAxis &) const = default;
};

// The ranks as an n-d array, first axis major: rank = (c0 * size1 + c1) * size2 + c2 ….
struct Mesh {
  std::vector<MeshAxis> axes;

  // Reads `dp=2,tp=4`. A user error if the text has another form or check() fails.
  static Result<Mesh> parse(const std::string &text);
  // The inverse; empty without axes.
  std::string str() const;
  // A user error if an axis has less than one rank, or if two axes have the same name.
  Status check() const;

  // The sizes of the axes.
  std::vector<int64_t> sizes() const;
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
  // The names of the axes with these indices: `dp+tp`.
  std::string axesText(const std::vector<int> &axisIndices) const;
  bool operator==(const Mesh &) const = default;
};

} // namespace cleave
