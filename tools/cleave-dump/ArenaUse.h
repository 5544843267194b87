// ArenaUse: the live bytes of an arena over the instructions of its program, from the lifetimes in
// the plan.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <map>
#include <vector>

namespace cleave::dump {

struct ArenaUse {
  std::vector<uint64_t> live;           // bytes live at each instruction position
  uint64_t always = 0;                  // bytes live at every position
  size_t peakPosition = 0;              // first position with the most live bytes
  std::vector<int> atPeak;              // indices of the buffers live at the peak, largest first
  std::map<plan::Role, uint64_t> roles; // bytes live at the peak, by role

  uint64_t peakBytes() const { return live.empty() ? 0 : live[peakPosition]; }
};

// The use of one arena. Positions number the instructions of all segments consecutively.
ArenaUse arenaUse(const plan::Program &program, uint32_t arena);

// The number of instruction positions of a program, and the first position of each segment.
size_t positionCount(const plan::Program &program);
std::vector<size_t> segmentBegins(const plan::Program &program);

} // namespace cleave::dump
