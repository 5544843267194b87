// Offsets: where buffers lie in the arena. Plain data in, plain data out.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave::bufferize {

inline constexpr int64_t kAlignment = 64;

// Needs `bytes` from position `first` to `last`, both included.
struct Lifetime {
  int64_t bytes = 0, first = 0, last = 0;
};

struct Placement {
  std::vector<int64_t> offsets; // multiples of kAlignment
  int64_t bytes = 0;            // of the arena
  int64_t peak = 0;             // most bytes alive at one position: no placement needs less
};

// Largest buffers first, each at the lowest offset where it meets no other one that is alive at the same time; ties
// by order. Several orders are tried and the best is kept.
Placement placeBuffers(const std::vector<Lifetime> &lifetimes);

} // namespace cleave::bufferize
