// Offsets: assigns offsets in the arena to buffers. Plain data.
#pragma once

#include "runtime/base/Alignment.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cleave::bufferize {

// Bytes; offsets are multiples of it. If all sizes are multiples of a larger alignment, so are all
// offsets.
inline constexpr int64_t kAlignment = bufferAlignment(/*isForGpus=*/false);
constexpr int64_t aligned(int64_t bytes) { return alignedTo(kAlignment, bytes); }

// A buffer that needs `bytes` from instruction `first` to `last`, both included.
struct Lifetime {
  int64_t bytes = 0, first = 0, last = 0;
};

// Offsets of all buffers, in the order of their lifetimes.
struct Placement {
  std::vector<int64_t> offsets; // multiples of kAlignment
  int64_t bytes = 0;            // size of the arena
  // Most bytes alive at one instruction, each buffer rounded up to kAlignment: a lower bound of
  // `bytes`.
  int64_t peak = 0;
};

// Places the largest buffers first, each at the lowest offset where it overlaps no other buffer
// that is alive at the same time; ties by order. Tries several orders. If none needs only the peak,
// searches for a placement that does (EjectionSearch.h), and keeps the best.
//
// With `room`, the question is whether the buffers fit in so many bytes. The search, which takes
// most of the time, then runs only if the peak does and the orders do not, and ends with the first
// placement in the room.
Placement placeBuffers(const std::vector<Lifetime> &lifetimes, std::optional<int64_t> room = {});

// Places further buffers around `placed`, which keep their offsets, in the best of these orders.
// The size and the peak are those of all buffers together.
Placement placeAround(const std::vector<Lifetime> &placed, const std::vector<int64_t> &offsets,
                      const std::vector<Lifetime> &added);

} // namespace cleave::bufferize
