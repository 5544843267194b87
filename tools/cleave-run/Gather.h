// Exchange of texts and failures between all ranks.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <string>
#include <vector>

namespace cleave::run {

// Collective over all ranks of `world`. Returns the strings by rank on every rank.
Result<std::vector<std::string>> gatherOnAll(comm::Communicator &world, const std::string &text);

// Collective over all ranks of `world`. Returns the string of rank 0, of any size, on every rank.
Result<std::string> fromFirst(comm::Communicator &world, std::string text);

// Collective over all ranks of `world`. Returns the strings by rank on rank 0, an empty vector on
// other ranks.
Result<std::vector<std::string>> gatherStrings(comm::Communicator &world, const std::string &text);

// Collective: returns the same status on every rank, ok or the failure of the first rank that has
// one, with its rank in the message. `own` is this rank's status: ok, a user error or a defect.
Status agree(comm::Communicator &world, const Status &own);

} // namespace cleave::run
