// Ranks that are processes of one machine and share memory.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>

namespace cleave::comm {

// Connects all ranks, which must all call this. Null, on every rank, if some of them cannot share
// memory with rank 0 (another machine, another container).
Result<std::unique_ptr<World>> connectShm(std::shared_ptr<TcpStore> store, int rank, int size,
                                          const Options &options = {});

} // namespace cleave::comm
