// All ranks meet at the store before they connect to each other.
#pragma once

#include "runtime/comm/TcpStore.h"
#include "runtime/launch/Launch.h"

#include <chrono>
#include <string>

namespace cleave::launch {

// Returns when all ranks have called it. All ranks must pass the same `choice` (the value of
// CLEAVE_COMM). All ranks get the same failure: Status::lost with the ranks that do not come within
// the timeout, or a user error with the choices that differ. A rank that another process has taken
// gets a user error of its own.
Status callRoll(comm::TcpStore &store, const RankEnvironment &environment,
                const std::string &choice, std::chrono::milliseconds timeout);

} // namespace cleave::launch
