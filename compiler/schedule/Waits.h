// Waits: what each task of a timeline waits for, and whom it releases.
#pragma once

#include "compiler/schedule/Groups.h"
#include "compiler/schedule/Timeline.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::schedule {

struct Waits {
  explicit Waits(const Timeline &timeline); // of valid indices

  // Calls visit(other, delay) for each task that has to end `delay` seconds before `task` begins,
  // its meeting left aside.
  template <typename Visit> void eachBefore(uint32_t task, Visit visit) const {
    if (previous[task] != kNone)
      visit(previous[task], 0.0);
    for (uint32_t edge : before[task])
      visit((*dependencies)[edge].before, (*dependencies)[edge].delay);
  }
  // Calls visit(other, delay) for each task that begins `delay` seconds after the end of `task`, or
  // later.
  template <typename Visit> void eachAfter(uint32_t task, Visit visit) const {
    if (next[task] != kNone)
      visit(next[task], 0.0);
    for (uint32_t edge : after[task])
      visit((*dependencies)[edge].after, (*dependencies)[edge].delay);
  }

  Groups ofResource;    // tasks in order
  Groups ofMeeting;     // tasks
  Groups before, after; // dependencies by the task that waits, and by the task that it waits for
  std::vector<uint32_t> previous, next; // by task: its neighbours on its resource, or kNone
  const std::vector<Dependency> *dependencies;
};

// `'matmul' (rank 3, compute)`, for messages.
std::string describe(const Timeline &timeline, uint32_t task);

// A user error that names a task if an index or a number of seconds is not valid, or if a meeting
// has another number of members than its size.
Status check(const Timeline &timeline);

} // namespace cleave::schedule
