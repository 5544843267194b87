// EjectionSearch: places buffers in an arena of a given size. Plain data; read Offsets.h first.
//
// A search on partial placements that uses no more bytes than it is given. A buffer without a place
// takes the offset where the least weight of others is in its way, and these lose their places. A
// buffer becomes heavier whenever it takes a place from others, so that buffers that are hard to
// place stay where they are and the others make way. Attempts begin anew with another seed, and
// treat other small buffers as if they lived all the time.
#pragma once

#include "passes/bufferize/Offsets.h"

#include <optional>

namespace cleave::bufferize {

// Offsets with which all buffers end at `bytes` or before; nothing if none are found. `work` limits
// the moves of all attempts, times the number of buffers. Deterministic.
std::optional<std::vector<int64_t>>
placeWithin(int64_t bytes, const std::vector<Lifetime> &lifetimes, int64_t work);

} // namespace cleave::bufferize
