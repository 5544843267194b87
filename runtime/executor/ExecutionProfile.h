// The times at which instructions ran, and a trace of them in the Chrome trace format (for
// Perfetto), with measured and predicted times.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::executor {

class ExecutionProfile {
public:
  // Records the last `steps` steps of a program, in memory that is allocated here. The program
  // outlives the profile.
  ExecutionProfile(const plan::Program &program, uint32_t rank, int steps);

  // Seconds of a clock that is common to all processes of this machine.
  static double now();

  // Marks the begin of a step.
  void beginStep(int64_t step);
  // Records that instruction `index` of segment `segment` ran in `slot` from `begin` to `end`
  // (seconds of now()).
  void record(uint32_t segment, uint32_t index, uint32_t slot, double begin, double end);

  // The rank's events as JSON objects, one per line, separated by commas: a part of a trace.
  std::string events() const;
  // A table of the kinds of instructions with measured and predicted seconds per step, in
  // decreasing order of measured seconds.
  std::string summary() const;

private:
  // One run of an instruction.
  struct Record {
    int64_t step;
    uint32_t segment, index, slot;
    double begin, end;
  };
  const plan::Program &program_;
  uint32_t rank_;
  size_t perStep_;           // records of a step
  std::vector<Record> ring_; // the last ones
  size_t count_ = 0;         // number recorded so far
  int64_t step_ = 0;
};

// Writes a trace of the events of several ranks. A user error if the file cannot be written.
Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks);

} // namespace cleave::executor
