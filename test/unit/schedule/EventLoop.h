// EventLoop: the rules of Timeline.h once more, as simply as possible: time advances from event to
// event, and whatever may start starts. It shares no code with compiler/schedule.
#pragma once

#include "compiler/schedule/Timeline.h"

#include <vector>

namespace cleave::schedule {

struct EventLoopResult {
  std::vector<bool> hasEnded; // by task; false: never, the timeline is a deadlock
  std::vector<double> begins, ends;
  double seconds = 0;
};

EventLoopResult runEventLoop(const Timeline &timeline);

} // namespace cleave::schedule
