#include "test/unit/schedule/TimelineBuilder.h"

namespace cleave::schedule {

template <typename Entry> static uint32_t append(std::vector<Entry> &list, Entry entry) {
  list.push_back(std::move(entry));
  return static_cast<uint32_t>(list.size() - 1);
}

TimelineBuilder::TimelineBuilder() { timeline.units.push_back({"step", {}}); }

uint32_t TimelineBuilder::resource(ResourceKind kind, uint32_t rank, uint32_t number) {
  return append(timeline.resources, {kind, rank, number});
}

uint32_t TimelineBuilder::meeting(uint32_t size) { return append(timeline.meetings, {size}); }

uint32_t TimelineBuilder::task(const std::string &name, uint32_t resource, double seconds,
                               const std::vector<uint32_t> &after, uint32_t meeting) {
  Task task;
  task.name = append(timeline.names, name);
  task.resource = resource;
  task.seconds = seconds;
  task.meeting = meeting;
  const uint32_t index = append(timeline.tasks, task);
  for (uint32_t before : after)
    timeline.dependencies.push_back({before, index});
  return index;
}

uint32_t TimelineBuilder::space(SpaceKind kind, uint32_t rank) {
  return append(timeline.spaces, {kind, rank});
}

uint32_t TimelineBuilder::buffer(uint32_t space, uint64_t bytes,
                                 const std::vector<uint32_t> &tasks) {
  const uint32_t index = append(timeline.buffers, {space, bytes, false});
  for (uint32_t task : tasks)
    timeline.accesses.push_back({task, index, task == tasks.front()});
  return index;
}

} // namespace cleave::schedule
