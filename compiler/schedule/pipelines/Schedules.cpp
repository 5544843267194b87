#include "compiler/schedule/pipelines/Schedules.h"

#include "compiler/schedule/pipelines/Check.h"
#include "runtime/base/Nearest.h"

namespace cleave::pipelines {
namespace {

constexpr uint32_t kAny = ~uint32_t(0);

constexpr Schedule kSchedules[] = {
    {"gpipe", "all forwards, then all backwards", 1, 1, gpipe},
    {"looped-bfs", "gpipe, stage by stage, on several stages per rank", 1, kAny,
     loopedBreadthFirst},
    {"1f1b", "one forward, one backward: few micro-batches in flight", 1, 1, oneForwardOneBackward},
    {"interleaved", "1f1b on several stages per rank: a smaller bubble", 1, kAny, interleaved},
    {"zb-h1", "1f1b with weight gradients in the bubble", 1, 1, zeroBubbleH1},
    {"interleaved-zb", "interleaved with weight gradients in the bubble", 1, kAny, zeroBubbleH1},
    {"zb-h2", "zb-h1 with twice as many micro-batches in flight", 1, 1, zeroBubbleH2},
    {"zb-v", "two stages per rank, there and back, with weight gradients in the bubble", 2, 2,
     zeroBubbleV},
    {"dualpipe", "two pipelines in opposite directions that overlap forwards and backwards", 1, 1,
     dualPipe},
    {"dualpipe-v", "one pipeline, there and back, that overlaps forwards and backwards", 2, 2,
     dualPipeV},
    {"chimera", "pipelines in opposite directions fill each other's bubbles", 1, 1, chimera},
    {"chimera-doubled", "chimera with two micro-batches per forward", 1, 1, chimeraDoubled},
    {"1f1b-recompute", "1f1b that recomputes every forward", 1, 1, allRecompute},
    {"pre-recompute", "1f1b-recompute; the last recomputes wait for no gradient", 1, 1,
     preRecompute},
    {"last-no-recompute", "pre-recompute; the last rank keeps its values", 1, 1, lastNoRecompute},
    {"critical-path", "last-no-recompute with a shorter beginning", 1, 1, criticalPath},
};

Status checkShape(const Schedule &schedule, const Shape &shape) {
  if (shape.ranks == 0 || shape.stagesPerRank == 0 || shape.microBatches == 0 ||
      shape.pipelinesPerDirection == 0)
    return Status::userError("found ", shape.ranks, " ranks, ", shape.stagesPerRank,
                             " stages per rank, ", shape.microBatches, " micro-batches and ",
                             shape.pipelinesPerDirection,
                             " pipelines per direction; expected at least 1 of each");
  if (shape.stagesPerRank < schedule.leastPerRank || shape.stagesPerRank > schedule.mostPerRank)
    return Status::userError("found ", shape.stagesPerRank, " stages per rank; expected ",
                             schedule.leastPerRank);
  size_t pairs = 1;
  for (uint32_t factor :
       {shape.ranks, shape.stagesPerRank, shape.microBatches, shape.pipelinesPerDirection})
    if (pairs *= factor; pairs > kMostPairs)
      return Status::userError("found ", shape.ranks, " ranks of ", shape.stagesPerRank,
                               " stages and ", shape.microBatches, " micro-batches, more than ",
                               kMostPairs, " pairs of a stage and a micro-batch");
  return Status::ok();
}

} // namespace

std::span<const Schedule> schedules() { return kSchedules; }

Result<Order> orderOf(std::string_view name, const Shape &shape) {
  for (const Schedule &schedule : kSchedules)
    if (schedule.name == name) {
      CLEAVE_TRY(checkShape(schedule, shape).withContext(schedule.name));
      return schedule.order(shape).withContext(schedule.name);
    }
  std::vector<std::string> known;
  for (const Schedule &schedule : kSchedules)
    known.emplace_back(schedule.name);
  return Status::userError("unknown schedule '", name, "'", suggestion(std::string(name), known));
}

} // namespace cleave::pipelines
