// The bytes at whose multiples the buffers of a program begin, and which they fill up.
#pragma once

#include <cstdint>

namespace cleave {

// On CPUs a cache line, which holds the widest vector. On GPUs what cuBLASLt asks of a workspace.
constexpr int64_t bufferAlignment(bool isForGpus) { return isForGpus ? 256 : 64; }

constexpr int64_t alignedTo(int64_t alignment, int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace cleave
