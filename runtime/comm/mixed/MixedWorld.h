// Shared memory among the ranks of one machine, Gloo between machines: each group takes the way that all its members have
// in common.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>
#include <string>

namespace cleave::comm {

// Connects all ranks. `machine` tells machines apart; ranks with the same one try to share memory. The World is a plain
// one (shm or gloo) where all groups would go the same way.
Result<std::unique_ptr<World>> connectMixed(std::shared_ptr<TcpStore> store, int rank, int size,
                                            const std::string &machine,
                                            const Options &options = {});

} // namespace cleave::comm
