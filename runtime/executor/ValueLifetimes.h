// Where, along one step, buffers begin and end to hold values.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <vector>

namespace cleave::executor {

// Whether a buffer's content survives the step: it holds a parameter, a state, a constant or the
// coordinates.
bool isPersistent(const plan::Buffer &buffer);

// The buffers whose values begin with one instruction, and those whose values end with it.
struct Lifetimes {
  std::vector<uint32_t> begin, end; // indices into Program.buffers
};

// By schedule step, then by instruction of its segment. Buffers that persist or have no bytes are
// left out. The access that comes first in the step begins a buffer's value, every time that its
// segment is run: instructions have no conditions, so nothing that the first run finds in the buffer
// can matter to the others. The last access before the next beginning, or before the end of the
// step, ends it. A started collective uses its buffers until it has been waited for. The program is
// verified (artifact/Verify.h).
std::vector<std::vector<Lifetimes>> lifetimesOf(const plan::Program &program);

} // namespace cleave::executor
