// Ranks that are threads of one process: they read each other's buffers directly.
#pragma once

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace cleave::comm {

// One World per rank; each is handed to its thread. A World that is destroyed while others wait for
// its rank makes their calls fail, as a dead process would.
std::vector<std::unique_ptr<World>> makeLocalWorlds(int size, const Options &options = {});

} // namespace cleave::comm
