// Communicators for the groups of ranks that mesh axes define (base/MeshCoordinates.h).
#pragma once

#include "runtime/comm/Communicator.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cleave::comm {

// This rank's communicators, by their list of mesh axes.
using Groups = std::map<std::vector<int>, std::unique_ptr<Communicator>>;

// Connects the group of each list of axes (repeated lists once). Ranks may pass different lists, as
// long as all members of a group pass its list. Fails like World::connect.
Result<Groups> makeCommunicators(World &world, const std::vector<int64_t> &meshSizes,
                                 const std::vector<std::vector<int>> &axesLists);

} // namespace cleave::comm
