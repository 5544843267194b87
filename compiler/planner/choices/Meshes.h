// Meshes: the meshes that the planner tries, and coarser forms of a mesh.
//
// An axis of a mesh can be cut into parts, which follow each other in its place: ranks keep their
// numbers. Whatever a plan does with the axis, a plan on the finer mesh can do with all parts
// together, at the same price: a finer mesh is never worse.
#pragma once

#include "dialects/interfaces/Sharding.h"

#include <vector>

namespace cleave::planner {

// The meshes that are tried for a number of ranks: one axis, and all products of two axes. Unless
// pins give names, they are called `x` and `y`: an axis means something once a plan is chosen
// (AxisUse.h).
std::vector<Mesh> candidateMeshes(int64_t ranks, const char *first = "x", const char *second = "y");

// Whether two meshes differ in the names of axes only.
bool haveEqualSizes(const Mesh &a, const Mesh &b);

// A mesh some of whose axes have parts in a finer mesh.
struct CoarserMesh {
  Mesh mesh;                           // named by the parts: `x+y`
  std::vector<std::vector<int>> parts; // per axis the axes of the finer mesh, one or several
};

// All meshes in which axes of `mesh` that follow each other are joined, those with the fewest axes
// first; without `mesh` itself.
std::vector<CoarserMesh> coarserMeshes(const Mesh &mesh);

} // namespace cleave::planner
