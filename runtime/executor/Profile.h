// When each instruction ran, and a trace of it in the Chrome trace format (which Perfetto reads),
// with the predicted time beside the measured one.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::executor {

class Profile {
public:
  // Keeps the last `steps` steps of a program. Times are kept in memory that is allocated here.
  Profile(const plan::Program &program, uint32_t rank, int steps);

  // Seconds of a clock that all processes of this machine share.
  static double now();

  // A step begins.
  void beginStep(int64_t step);
  // Instruction `index` of segment `segment` ran in `slot` from `begin` to `end` (seconds of
  // now()).
  void record(uint32_t segment, uint32_t index, uint32_t slot, double begin, double end);

  // The rank's events as JSON objects, one per line, separated by commas: part of a trace.
  std::string events() const;
  // A table of the kinds of instructions with measured and predicted seconds per step, the longest
  // first.
  std::string summary() const;

private:
  struct Event {
    int64_t step;
    uint32_t segment, index, slot;
    double begin, end;
  };
  const plan::Program &program_;
  uint32_t rank_;
  size_t perStep_;          // events of a step
  std::vector<Event> ring_; // the last ones
  size_t count_ = 0;        // recorded in all
  int64_t step_ = 0;
};

// Puts the events of several ranks together and writes the trace.
Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks);

} // namespace cleave::executor
