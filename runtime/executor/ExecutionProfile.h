// The times at which instructions ran (Trace.h draws them), and a table of them.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::executor {

class ExecutionProfile {
public:
  // One run of an instruction.
  struct Record {
    int64_t step;
    uint32_t segment, index, slot;
    double begin, end; // seconds of now()
  };

  // Records the last `steps` steps of a program of the plan, in memory that is allocated here. Both
  // outlive the profile.
  ExecutionProfile(const plan::Plan &plan, const plan::Program &program, int steps);

  // Seconds of a clock that is common to all processes of this machine.
  static double now();

  // Marks the begin of a step.
  void beginStep(int64_t step);
  // Records that instruction `index` of segment `segment` ran in `slot` from `begin` to `end`
  // (seconds of now()).
  void record(uint32_t segment, uint32_t index, uint32_t slot, double begin, double end);

  // Those that were kept, in the order in which they were recorded.
  std::vector<Record> records() const;

  // A table of the kinds of instructions with measured and predicted seconds per step, in
  // decreasing order of measured seconds: the first `rows` kinds, and the sum of the others.
  std::string summary(size_t rows = 12) const;

private:
  const plan::Plan &plan_;
  const plan::Program &program_;
  size_t perStep_;           // records of a step
  std::vector<Record> ring_; // the last ones
  size_t count_ = 0;         // number recorded so far
  int64_t step_ = 0;
};

} // namespace cleave::executor
