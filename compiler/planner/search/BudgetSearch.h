// BudgetSearch: plans within a budget of device memory, where the fastest plan that keeps
// everything needs more.
//
// Layouts that were bounded and chosen together with a policy come first (JointMeshes.h); for these
// layouts a policy is searched on the realised step (RematSearch.h). Only if the best such plan is
// not close to the bound are policies searched for the layouts that are best without a limit, and
// for some that are split a little more finely, and at last plans that keep everything, which must
// beat those with recomputation.
#pragma once

#include "compiler/planner/search/JointMeshes.h"
#include "compiler/planner/search/RematSearch.h"

#include <memory>
#include <vector>

namespace cleave::planner {

// Every search is run at most once. Keeps references to the constructor's arguments.
class BudgetSearch {
public:
  // `pinned`: of the trials' step. `cluster`: as all ranks see it (Trials::shared).
  BudgetSearch(const Trials &trials, const PinnedRemat &pinned, const cluster::Cluster &cluster);

  // The fastest plan found. Infeasible if there is none, or if the search is hopeless. `meshes`: of
  // jointMeshes(), at least one.
  Result<PlannedStep> jointly(const std::vector<JointMesh> &meshes);
  // Searches a policy for the layouts that are best without a limit, and no others.
  Result<PlannedStep> shardingFirst();
  // No plan fits, as `meshes` prove. Looks for a small program, so that the message can name it:
  // a policy for the layouts that take the least bytes, and the recipe that keeps little. Fails
  // always.
  Status refuse(const std::vector<JointMesh> &meshes);

private:
  Result<std::unique_ptr<Costs>> searchAroundBase(const std::vector<JointMesh> &meshes);
  Status searchFastest(Costs &costs);
  Status searchFiner(Costs &costs);
  Status searchOften(Costs &costs);
  bool isHopeless() const;
  bool maySplit() const;
  TrialOptions faster() const;
  TrialOptions fasterOrWhy() const;
  Status refusal(bool isProven) const;
  Result<PlannedStep> explain(const Mesh &mesh) const;

  const Trials &trials_;
  const PinnedRemat &pinned_;
  const cluster::Cluster &cluster_;
  RematPolicy kept_; // keeps everything but for what is pinned
  RematSearch remat_;
};

} // namespace cleave::planner
