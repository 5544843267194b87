// Schedules: the orders of published pipeline schedules, by name. Each source file has the rules of
// one family, and where they come from.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "runtime/base/Status.h"

#include <span>
#include <string_view>

namespace cleave::pipelines {

struct Shape {
  uint32_t ranks = 1;
  uint32_t stagesPerRank = 1; // of one pipeline
  uint32_t microBatches = 1;
  uint32_t pipelinesPerDirection = 1; // of chimera
};

struct Schedule {
  const char *name;
  const char *summary;
  uint32_t leastPerRank, mostPerRank; // stages per rank that the rule is made for
  Result<Order> (*order)(const Shape &shape);
};

// All schedules.
std::span<const Schedule> schedules();

// The order of a schedule. A user error if the name is unknown, or if the schedule is not defined
// for the shape; check() accepts every other result.
Result<Order> orderOf(std::string_view schedule, const Shape &shape);

// GPipe.cpp
Result<Order> gpipe(const Shape &shape);
Result<Order> loopedBreadthFirst(const Shape &shape);
// OneForwardOneBackward.cpp
Result<Order> oneForwardOneBackward(const Shape &shape);
Result<Order> interleaved(const Shape &shape);
Result<Order> zeroBubbleH1(const Shape &shape); // also of several stages per rank
Result<Order> zeroBubbleH2(const Shape &shape);
// ZeroBubbleV.cpp
Result<Order> zeroBubbleV(const Shape &shape);
// DualPipe.cpp
Result<Order> dualPipe(const Shape &shape);
Result<Order> dualPipeV(const Shape &shape);
// Chimera.cpp
Result<Order> chimera(const Shape &shape);
Result<Order> chimeraDoubled(const Shape &shape);
// CriticalPath.cpp
Result<Order> allRecompute(const Shape &shape);
Result<Order> preRecompute(const Shape &shape);
Result<Order> lastNoRecompute(const Shape &shape);
Result<Order> criticalPath(const Shape &shape);

} // namespace cleave::pipelines
