// Communication between ranks that are threads of one process. They read each other's buffers
// directly.
#pragma once

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace cleave::comm {

// One World per rank, each used by one thread. If a World is destroyed while other ranks wait for
// its rank, their calls fail as if the rank's process had died.
std::vector<std::unique_ptr<World>> makeLocalWorlds(int size, const Options &options = {});

} // namespace cleave::comm
