// FirstStage: bounds on the seconds of plans of a pipeline by its first stage, which is cheaper to
// bound than all stages are to plan.
#pragma once

#include "compiler/planner/remat/ChooseRemat.h"
#include "compiler/planner/search/JointMeshes.h"
#include "compiler/planner/search/Planner.h"

namespace cleave::planner {

// Bounds on plans of the first stage, which bound those of all stages. Keeps a reference to
// `shared`.
class FirstStage {
public:
  // `options`: those of the plans of stages. `shared`: the cluster as the ranks of all stages see
  // it.
  FirstStage(StepModel model, const cluster::Cluster &shared, PlannerOptions options);

  // The meshes to try, those that may be fastest first: plans on these rule out most others.
  Result<std::vector<Mesh>> meshes();

  // A bound on the seconds of plans on all meshes without a limit of memory, once meshes() has
  // compared them.
  double bound() const { return bound_; }

  // A bound on the seconds of plans within the budget, on all meshes.
  double boundWithin();

  // Whether plans on the mesh may be worth a search. They are not if a bound without a limit of
  // memory reaches `seconds`, or if the bound within the budget, or its layouts with recomputation,
  // come close to them.
  bool mayBeFasterOn(const Mesh &mesh, double seconds);

private:
  // Whether memory has a limit that values cannot evade in other spaces.
  bool asksForMemory() const { return budget_.isLimited() && !options_.spaces.any(); }

  // For a bound that is not raised further than a look at each mesh does.
  PlannerOptions withinBudget() const;

  // Seconds of the layouts of a bound, with recomputation within the budget; 0 if unknown.
  double secondsWithin(const JointMesh &mesh, const PinnedRemat &pinned);

  StepModel model_;
  const cluster::Cluster &shared_;
  PlannerOptions options_; // without a limit
  Budget budget_;
  double bound_ = 0;
};

} // namespace cleave::planner
