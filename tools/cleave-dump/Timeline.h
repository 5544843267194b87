// Timeline: which buffers of a program are live when, from the lifetimes that the plan states.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <map>
#include <vector>

namespace cleave::dump {

struct Timeline {
  std::vector<uint64_t> live;           // bytes live at each instruction position
  uint64_t always = 0;                  // of these, bytes live at every position
  size_t peakPosition = 0;              // the first with the most live bytes
  std::vector<int> atPeak;              // indices of the buffers live there, largest first
  std::map<plan::Role, uint64_t> roles; // bytes live at the peak, by role

  uint64_t peakBytes() const { return live.empty() ? 0 : live[peakPosition]; }
};

// The timeline of one arena. Positions count the instructions of all segments, one after the other.
Timeline timelineOf(const plan::Program &program, uint32_t arena);

// The number of instruction positions of a program, and where each segment begins.
size_t positionCount(const plan::Program &program);
std::vector<size_t> segmentBegins(const plan::Program &program);

} // namespace cleave::dump
