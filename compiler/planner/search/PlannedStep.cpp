#include "compiler/planner/search/PlannedStep.h"

namespace cleave::planner {

MemoryOf memoryOf(const Step &step, const cluster::Cluster &cluster, const Budget &budget) {
  return [&step, &cluster, budget](const Decisions &decisions) -> Result<ProgramMemory> {
    CLEAVE_TRY_ASSIGN(const cluster::Cluster shared,
                      cluster::forRanks(cluster, decisions.mesh.ranks()));
    return step.memory(decisions, shared, budget);
  };
}

Result<PlannedStep> planWithPolicy(const Step &step, const RematPolicy &policy,
                                   const cluster::Cluster &cluster, TrialOptions options) {
  PlannedStep planned;
  planned.policy = policy;
  CLEAVE_TRY_ASSIGN(planned.step, step.realise(policy));
  options.memoryOf = memoryOf(*planned.step, cluster, options.budget);
  CLEAVE_TRY_ASSIGN(planned.plan, planStep(planned.step->model(), cluster, options));
  return planned;
}

} // namespace cleave::planner
