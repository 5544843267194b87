// The numbering of ranks on a mesh. The first mesh axis is major in the rank number; in a group of
// some axes, the first axis listed is major in the index of a rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cleave {

// The coordinates of `rank` on a mesh with these axis sizes, one per axis.
std::vector<int64_t> meshCoordinates(std::span<const int64_t> sizes, int64_t rank);

// The ranks that differ from `rank` only in their coordinates on `axes` (indices into `sizes`,
// without repetition), `rank` included, by their index in the group.
std::vector<int64_t> meshGroup(std::span<const int64_t> sizes, std::span<const int64_t> axes,
                               int64_t rank);

} // namespace cleave
