// Communication between processes of one machine over shared memory.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/TcpStore.h"

#include <memory>
#include <vector>

namespace cleave::comm {

// Connects the ranks of this machine (`ranks`, ascending), which must all call it; `size` counts
// the ranks of all machines. Null on all of them if one cannot share memory with the first, as in
// another container. The World's groups must consist of these ranks. Status::lost if a rank does
// not come in time.
Result<std::unique_ptr<World>> connectShm(std::shared_ptr<TcpStore> store, int rank,
                                          const std::vector<int> &ranks, int size,
                                          const Options &options = {});

} // namespace cleave::comm
