// From mesh axes to groups of ranks. A mesh's first axis is major in the rank number; the group of
// some axes holds the ranks that differ only in their coordinates on these, the first axis listed
// being major.
#pragma once

#include "runtime/comm/Communicator.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cleave::comm {

// Coordinates of `rank` on a mesh of these sizes, one per axis.
std::vector<int64_t> coordinates(const std::vector<int64_t> &meshSizes, int rank);

// The ranks of the group of `axes` (indices into meshSizes) that `rank` is in, in group order.
std::vector<int> groupMembers(const std::vector<int64_t> &meshSizes, const std::vector<int> &axes,
                              int rank);

// This rank's communicators by their axes list.
using Groups = std::map<std::vector<int>, std::unique_ptr<Communicator>>;

// Connects the groups of these axes lists (repeated ones once). Ranks that need different lists may
// pass different ones, as long as the members of each group all pass its list.
Result<Groups> makeCommunicators(World &world, const std::vector<int64_t> &meshSizes,
                                 const std::vector<std::vector<int>> &axesLists);

} // namespace cleave::comm
