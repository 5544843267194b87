// The points of a step at which buffers begin and cease to hold values.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <vector>

namespace cleave::executor {

// The buffers whose values begin with one instruction, and those whose values end with it.
struct Lifetimes {
  std::vector<uint32_t> begin, end; // indices into Program.buffers
};

// The lifetimes by schedule step and by instruction of its segment. Persistent buffers and buffers
// without bytes are left out. The first access in the step begins a buffer's value, every time that
// its segment is run: instructions have no conditions, so no run can depend on the content that the
// first one found. The last access before the next begin, or before the end of the step, ends the
// value. The program must be verified (artifact/Verify.h) and runs in the order of its lists.
std::vector<std::vector<Lifetimes>> lifetimesOf(const plan::Program &program);

} // namespace cleave::executor
