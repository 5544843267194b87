#include "compiler/planner/search/OverlappedCopies.h"

#include "compiler/planner/network/PricedDecisions.h"

#include <algorithm>

namespace cleave::planner {

bool hasCopies(const StepModel &model) {
  return std::ranges::any_of(model.values, [](const Value &value) { return value.awayCopies > 0; });
}

cluster::Cluster withExposedCopies(const cluster::Cluster &cluster, double share) {
  cluster::Cluster faster = cluster;
  for (cluster::Link *link : {&faster.hostLink, &faster.fileLink}) {
    link->latencySeconds *= share;
    link->bytesPerSecond /= share;
  }
  return faster;
}

bool overlapCopies(PlanReport &plan, const StepModel &model, const cluster::Cluster &shared,
                   double share) {
  const double copies = copySecondsOf(Costs(model, shared, plan.mesh), plan),
               others = plan.seconds - share * copies;
  plan.seconds = std::max(others, copies);
  plan.gap = plan.seconds > 0 ? (plan.seconds - plan.boundSeconds) / plan.seconds : 0;
  return copies <= others;
}

} // namespace cleave::planner
