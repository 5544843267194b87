// Timeline: one step as plain data: the tasks of all ranks, the resources that run them, what each
// task waits for, and the buffers that it touches. Simulate.h computes its seconds and bytes.
//
// Rules of execution:
//   * A resource runs one task at a time, in the order of the list `tasks`.
//   * A task begins as soon as its predecessor on its resource and all tasks that it depends on
//     have ended, and the delays of these dependencies are over.
//   * The tasks of a meeting begin together, as soon as all of them may begin, and end together
//     after the seconds of the slowest one. A collective is a meeting of the ranks of its group, a
//     message one of its SEND and its RECV.
//   * A buffer is live from when the first task that accesses it begins until the last one ends:
//     the buffers of a transfer stay live until it is done.
//
// Seconds are predicted ones; names and units serve people. Everything else is a number or an
// index, because a step of 1,024 ranks has hundreds of thousands of tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::schedule {

// The index of nothing.
inline constexpr uint32_t kNone = ~uint32_t(0);

enum class ResourceKind : uint8_t { Compute, Link, HostLink, Disk };

// Runs tasks of one rank. Ranks are numbered from 0, and each has a resource: at most one that
// computes, and any number of links, such as one per kind of traffic.
struct Resource {
  ResourceKind kind = ResourceKind::Compute;
  uint32_t rank = 0;
  uint32_t number = 0; // of a link: which one of the rank
};

enum class SpaceKind : uint8_t { Device, Host, File };

// Memory of one rank.
struct Space {
  SpaceKind kind = SpaceKind::Device;
  uint32_t rank = 0;
};

// Bytes of a space. Each slot of a value (its copy for one micro-batch in flight) is a
// separate buffer, and so is each copy of a value in another space.
struct Buffer {
  uint32_t space = 0;
  uint64_t bytes = 0;
  bool isPersistent = false; // live throughout the step
};

// One program and the ranks that run it: a pipeline stage, or the evaluation.
struct Unit {
  std::string name;
  std::vector<uint32_t> ranks;
};

// One instruction on one resource.
struct Task {
  uint32_t name = 0; // index into Timeline::names
  uint32_t unit = 0;
  uint32_t slot = 0; // index of the micro-batch
  uint32_t resource = 0;
  uint32_t meeting = kNone;
  double seconds = 0;
};

// Task `after` begins `delay` seconds after the end of task `before`, or later. The delay occupies
// no resource: the latency of a connection that carries any number of values at once.
struct Dependency {
  uint32_t before = 0, after = 0;
  double delay = 0;
};

struct Access {
  uint32_t task = 0, buffer = 0;
  bool isWritten = false; // and may be read; otherwise it is only read
};

// All members are in one list of tasks; a meeting states only how many they are, so that a member
// that is missing is found.
struct Meeting {
  uint32_t size = 0;
};

// Indices refer to the list of the same name.
struct Timeline {
  std::vector<std::string> names;
  std::vector<Unit> units;
  std::vector<Resource> resources;
  std::vector<Space> spaces;
  std::vector<Buffer> buffers;
  std::vector<Meeting> meetings;
  std::vector<Task> tasks;              // those of one resource in the order in which it runs them
  std::vector<Dependency> dependencies; // in any order
  std::vector<Access> accesses;         // in any order
};

// `compute`, `link 0`, `host link`, `disk`.
std::string nameOf(const Resource &resource);
// `device`, `host`, `file`.
const char *nameOf(SpaceKind kind);

} // namespace cleave::schedule
