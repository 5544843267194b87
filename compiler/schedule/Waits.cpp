#include "compiler/schedule/Waits.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace cleave::schedule {

Waits::Waits(const Timeline &t)
    : ofResource(t.resources.size(), t.tasks.size(), [&](size_t i) { return t.tasks[i].resource; }),
      ofMeeting(t.meetings.size(), t.tasks.size(), [&](size_t i) { return t.tasks[i].meeting; }),
      before(t.tasks.size(), t.dependencies.size(),
             [&](size_t i) { return t.dependencies[i].after; }),
      after(t.tasks.size(), t.dependencies.size(),
            [&](size_t i) { return t.dependencies[i].before; }),
      previous(t.tasks.size(), kNone), next(t.tasks.size(), kNone), dependencies(&t.dependencies) {
  for (size_t resource = 0; resource < t.resources.size(); ++resource) {
    std::span<const uint32_t> order = ofResource[resource];
    for (size_t i = 1; i < order.size(); ++i) {
      previous[order[i]] = order[i - 1];
      next[order[i - 1]] = order[i];
    }
  }
}

std::string describe(const Timeline &timeline, uint32_t task) {
  const Task &what = timeline.tasks[task];
  const Resource &resource = timeline.resources[what.resource];
  return concat("'", timeline.names[what.name], "' (task ", task, ": rank ", resource.rank, ", ",
                nameOf(resource), ")");
}

namespace {

// The first index of a task that refers to nothing, as a message; empty if there is none.
std::string invalidIndex(const Timeline &t, const Task &task) {
  const std::tuple<const char *, uint32_t, size_t> indices[] = {
      {"name", task.name, t.names.size()},
      {"unit", task.unit, t.units.size()},
      {"resource", task.resource, t.resources.size()},
      {"meeting", task.meeting == kNone ? 0 : task.meeting,
       task.meeting == kNone ? 1 : t.meetings.size()}};
  for (auto [what, index, size] : indices)
    if (index >= size)
      return concat("has ", what, " ", index, " of ", size);
  return "";
}

Status checkTasks(const Timeline &t) {
  for (size_t i = 0; i < t.tasks.size(); ++i) {
    if (std::string invalid = invalidIndex(t, t.tasks[i]); !invalid.empty())
      return Status::userError("task ", i, " ", invalid);
    if (!(t.tasks[i].seconds >= 0) || std::isinf(t.tasks[i].seconds))
      return Status::userError(describe(t, uint32_t(i)), " takes ", t.tasks[i].seconds,
                               " seconds; expected a finite number of at least 0");
  }
  return Status::ok();
}

Status checkResources(const Timeline &t) {
  std::vector<bool> computes(t.resources.size());
  for (const Resource &resource : t.resources) {
    if (resource.rank >= t.resources.size())
      return Status::userError("a resource belongs to rank ", resource.rank, ", but only ",
                               t.resources.size(), " resources exist; expected one of each rank");
    if (resource.kind == ResourceKind::Compute && computes[resource.rank])
      return Status::userError("rank ", resource.rank, " has two compute resources");
    computes[resource.rank] = computes[resource.rank] || resource.kind == ResourceKind::Compute;
  }
  return Status::ok();
}

Status checkReferences(const Timeline &t) {
  for (const Dependency &dependency : t.dependencies) {
    if (std::max(dependency.before, dependency.after) >= t.tasks.size())
      return Status::userError("task ", dependency.after, " depends on task ", dependency.before,
                               ", and there are ", t.tasks.size());
    if (!(dependency.delay >= 0) || std::isinf(dependency.delay))
      return Status::userError(describe(t, dependency.after), " waits ", dependency.delay,
                               " seconds after task ", dependency.before,
                               "; expected a finite number of at least 0");
  }
  for (const Buffer &buffer : t.buffers)
    if (buffer.space >= t.spaces.size())
      return Status::userError("a buffer is in space ", buffer.space, " of ", t.spaces.size());
  for (const Access &access : t.accesses)
    if (access.task >= t.tasks.size() || access.buffer >= t.buffers.size())
      return Status::userError("task ", access.task, " of ", t.tasks.size(), " accesses buffer ",
                               access.buffer, " of ", t.buffers.size());
  return Status::ok();
}

Status checkMeetings(const Timeline &t) {
  std::vector<uint32_t> members(t.meetings.size()), first(t.meetings.size(), kNone);
  for (uint32_t i = 0; i < t.tasks.size(); ++i)
    if (uint32_t meeting = t.tasks[i].meeting; meeting != kNone && members[meeting]++ == 0)
      first[meeting] = i;
  for (size_t m = 0; m < t.meetings.size(); ++m)
    if (members[m] != 0 && members[m] != t.meetings[m].size)
      return Status::userError(describe(t, first[m]), " is in a meeting of ", t.meetings[m].size,
                               " tasks, of which ", members[m], " exist: a send without its ",
                               "receive, or a collective that a rank leaves out");
  return Status::ok();
}

} // namespace

Status check(const Timeline &timeline) {
  CLEAVE_TRY(checkResources(timeline));
  CLEAVE_TRY(checkTasks(timeline));
  CLEAVE_TRY(checkReferences(timeline));
  return checkMeetings(timeline);
}

} // namespace cleave::schedule
