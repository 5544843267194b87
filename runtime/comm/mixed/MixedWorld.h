// Shared memory between ranks of one machine, Gloo between machines. A group uses shared memory if
// all its members are on one machine.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>
#include <string>

namespace cleave::comm {

// Connects all ranks. `machine` identifies this rank's machine; ranks with equal strings try to
// share memory. Returns a World of one kind (shm or gloo) if all groups would use the same kind.
Result<std::unique_ptr<World>> connectMixed(std::shared_ptr<TcpStore> store, int rank, int size,
                                            const std::string &machine,
                                            const Options &options = {});

} // namespace cleave::comm
