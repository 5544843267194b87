// Communication between processes, on one or several machines, over Gloo's TCP transport. Only
// Gloo's unbound sends and receives are used, because its own reductions do not combine the members
// in rank order.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>

namespace cleave::comm {

// Connects all ranks with each other; returns when all are connected. Status::lost if that fails.
Result<std::unique_ptr<World>> connectGloo(const Rendezvous &rendezvous,
                                           const Options &options = {});

// The same over an existing store.
Result<std::unique_ptr<World>> connectGloo(std::shared_ptr<TcpStore> store, int rank, int size,
                                           const Options &options = {});

} // namespace cleave::comm
