// See ValueLifetimes.h.
#include "runtime/executor/ValueLifetimes.h"

#include "runtime/artifact/Access.h"

#include <optional>
#include <utility>

namespace cleave::executor {
namespace {

using Place = std::pair<int, int>; // schedule step or segment, and instruction

// Follows one step's schedule.
class LifetimeWalk {
public:
  explicit LifetimeWalk(const plan::Program &program)
      : program_(program), first_(size_t(program.buffers_size())),
        last_(size_t(program.buffers_size())) {
    for (const plan::ScheduleStep &step : program.schedule())
      lifetimes_.emplace_back(segmentOf(step).instructions_size());
  }

  void run() {
    for (int scheduled = 0; scheduled < program_.schedule_size(); ++scheduled)
      for (int i = 0; i < segmentOf(program_.schedule(scheduled)).instructions_size(); ++i)
        visit(scheduled, i);
    for (uint32_t buffer = 0; buffer < last_.size(); ++buffer)
      end(buffer);
  }

  std::vector<std::vector<Lifetimes>> take() { return std::move(lifetimes_); }

private:
  const plan::Segment &segmentOf(const plan::ScheduleStep &step) const {
    return program_.segments(int(step.segment()));
  }

  void visit(int scheduled, int index) {
    int segment = int(program_.schedule(scheduled).segment());
    const plan::Instruction &instruction = program_.segments(segment).instructions(index);
    for (const artifact::Access &access : artifact::accessesOf(program_, instruction))
      touch(access.buffer, {segment, index}, {scheduled, index});
  }

  void touch(uint32_t buffer, Place instruction, Place now) {
    const plan::Buffer &touched = program_.buffers(int(buffer));
    if (artifact::isPersistent(touched) || touched.bytes() == 0 || last_[buffer] == now)
      return;
    if (!first_[buffer])
      first_[buffer] = instruction;
    if (first_[buffer] == instruction) {
      end(buffer);
      at(now).begin.push_back(buffer);
    }
    last_[buffer] = now;
  }

  void end(uint32_t buffer) {
    if (last_[buffer])
      at(*last_[buffer]).end.push_back(buffer);
  }

  Lifetimes &at(Place place) { return lifetimes_[size_t(place.first)][size_t(place.second)]; }

  const plan::Program &program_;
  std::vector<std::optional<Place>> first_; // by buffer: segment and instruction
  std::vector<std::optional<Place>> last_;  // by buffer: schedule step and instruction
  std::vector<std::vector<Lifetimes>> lifetimes_;
};

} // namespace

std::vector<std::vector<Lifetimes>> lifetimesOf(const plan::Program &program) {
  LifetimeWalk walk(program);
  walk.run();
  return walk.take();
}

} // namespace cleave::executor
