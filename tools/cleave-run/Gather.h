// Brings one text of every rank to rank 0.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <string>
#include <vector>

namespace cleave::run {

// To be called by all ranks of `world`, a group of all. On rank 0: the texts by rank; elsewhere
// empty.
Result<std::vector<std::string>> gatherTexts(comm::Communicator &world, const std::string &text);

} // namespace cleave::run
