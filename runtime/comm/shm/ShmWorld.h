// Ranks that are processes of one machine and share memory.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>
#include <vector>

namespace cleave::comm {

// Connects the ranks of this machine (`ranks`, ascending; others may be elsewhere), which must all call this. Null,
// on every one of them, if some cannot share memory with the first (another container). The World's groups
// must lie within these ranks.
Result<std::unique_ptr<World>> connectShm(std::shared_ptr<TcpStore> store, int rank,
                                          const std::vector<int> &ranks, int size,
                                          const Options &options = {});

} // namespace cleave::comm
