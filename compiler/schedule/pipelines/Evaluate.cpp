#include "compiler/schedule/pipelines/Evaluate.h"

#include "compiler/schedule/pipelines/Check.h"

#include <algorithm>

namespace cleave::pipelines {

Result<Evaluation> evaluate(const Order &order, const Costs &costs) {
  CLEAVE_TRY(checkActions(order));
  if (costs.stages.size() != order.stages)
    return Status::userError("found costs of ", costs.stages.size(), " stages; expected those of ",
                             order.stages);
  CLEAVE_TRY_ASSIGN(const schedule::Simulation simulation,
                    schedule::simulate(timelineOf(order, costs)));
  Evaluation result;
  result.makespan = simulation.seconds;
  double busy = 0;
  size_t index = 0;
  for (uint32_t rank = 0; rank < order.ranks(); ++rank) {
    busy += simulation.busySeconds[rank];
    std::vector<schedule::Interval> &times = result.times.emplace_back();
    for (size_t i = 0; i < order.tasks[rank].size(); ++i, ++index)
      times.push_back({simulation.begins[index], simulation.ends[index]});
    if (!times.empty())
      result.longestRank = std::max(result.longestRank, times.back().end - times.front().begin);
  }
  if (result.makespan > 0)
    result.bubbleFraction = 1 - busy / (order.ranks() * result.makespan);
  for (size_t space = 0; space < simulation.live.size(); ++space)
    (space < order.rankOf.size() ? result.inFlight : result.inFlightOfRank)
        .push_back(static_cast<uint32_t>(simulation.live[space].peak));
  return result;
}

} // namespace cleave::pipelines
