// FirstFit: places buffers one after the other. Plain data.
#pragma once

#include "passes/bufferize/Offsets.h"

#include <functional>

namespace cleave::bufferize {

// The numbers of the buffers in falling order of a key; equal ones in their own order.
std::vector<size_t> fallingOrder(const std::vector<Lifetime> &lifetimes,
                                 const std::function<double(const Lifetime &)> &key);

// Offsets of all buffers. In the given order, every buffer gets the lowest offset where it overlaps
// none that is alive at the same time, and none of the buffers `placed` at `offsets`. Takes about
// n log n steps for buffers of usual programs.
std::vector<int64_t> placeInOrder(const std::vector<Lifetime> &lifetimes,
                                  const std::vector<size_t> &order,
                                  const std::vector<Lifetime> &placed = {},
                                  const std::vector<int64_t> &offsets = {});

} // namespace cleave::bufferize
