// TimelineBuilder: timelines in few lines, for tests.
#pragma once

#include "compiler/schedule/Timeline.h"

#include <string>
#include <vector>

namespace cleave::schedule {

// Every function adds one entry and returns its index.
class TimelineBuilder {
public:
  TimelineBuilder(); // one unit, `step`

  uint32_t resource(ResourceKind kind, uint32_t rank = 0, uint32_t number = 0);
  uint32_t meeting(uint32_t size);
  uint32_t task(const std::string &name, uint32_t resource, double seconds,
                const std::vector<uint32_t> &after = {}, uint32_t meeting = kNone);
  uint32_t space(SpaceKind kind, uint32_t rank = 0);
  // A buffer that `tasks` access; the first of them writes it.
  uint32_t buffer(uint32_t space, uint64_t bytes, const std::vector<uint32_t> &tasks);

  Timeline timeline;
};

} // namespace cleave::schedule
