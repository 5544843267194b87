// Gathers one string per rank on rank 0.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <string>
#include <vector>

namespace cleave::run {

// Collective over all ranks of `world`. Returns the strings by rank on rank 0, an empty vector on
// other ranks.
Result<std::vector<std::string>> gatherStrings(comm::Communicator &world, const std::string &text);

} // namespace cleave::run
