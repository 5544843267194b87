// MeshSearch: the best layouts of a step whose recomputation is decided, on the best of several
// meshes.
//
// Meshes are tried by rising bound, each until it is proven to be no better than the best so far
// (docs/decisions/0052-bounds-rise-only-as-far-as-a-decision-needs.md).
#pragma once

#include "compiler/planner/report/PlanReport.h"
#include "compiler/planner/search/PlannerOptions.h"

#include <memory>
#include <vector>

namespace cleave::planner {

// A network with its solution, and what is known of the meshes that were tried.
struct SolvedLayouts {
  std::unique_ptr<Costs> costs; // on the mesh of the layouts
  PlanProblem problem;
  solver::Solution solution;
  ProgramMemory memory;                     // of the program
  double seconds = 0;                       // of a step, with buckets as they are
  double boundSeconds = solver::kForbidden; // of a step, on any mesh that was tried
  double solveSeconds = 0;                  // wall time of all solves
  size_t unlisted = 0;                      // choices that the network does not list
  bool isBinding = false;                   // the fastest plan without a budget does not fit
  std::vector<TriedMesh> tried;             // without coarser ones
  size_t chosen = 0;                        // of `tried`: the mesh of the layouts
  std::vector<std::vector<int>> parts;      // axes that are used together (Meshes.h); empty: none
};

// Searches the layouts on meshesToTry() and, where a mesh was asked for, on coarserMeshes(). The
// pins must be prepared for the model. `shared`: the cluster as all ranks see it. Infeasible if no
// plan fits: the message states how many bytes are missing and the largest nodes.
Result<SolvedLayouts> searchMeshes(const StepModel &model, const cluster::Cluster &shared,
                                   const TrialOptions &options);

} // namespace cleave::planner
