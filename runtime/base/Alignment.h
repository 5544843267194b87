// Alignment of a program's buffers, in bytes: offsets and allocated sizes are multiples of it.
#pragma once

#include <cstdint>

namespace cleave {

// CPUs: a cache line, which holds the widest vector. GPUs: cuBLASLt requires it of workspaces.
constexpr int64_t bufferAlignment(bool isForGpus) { return isForGpus ? 256 : 64; }

// Buffers in a file begin at a page, which direct I/O requires.
inline constexpr int64_t kFileAlignment = 4096;

// Rounds `bytes` up to a multiple of `alignment`.
constexpr int64_t alignedTo(int64_t alignment, int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace cleave
