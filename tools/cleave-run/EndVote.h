// The ranks' vote on ending early: a signal may reach them during different steps, or only one of
// them, and all end behind the same one.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <cstdint>

namespace cleave::run {

class EndVote {
public:
  // To be called on all ranks behind every step, which has taken these seconds. `signal` is the one
  // because of which this rank is to end, 0 if none. Returns the signal of any rank, from the same
  // step on, or 0. The ranks communicate about ten times a second, not in every step.
  Result<int> after(comm::Communicator &everyone, int signal, double seconds);
  // Whether the ranks have voted to end.
  bool isDecided() const { return isDecided_; }

private:
  bool isDecided_ = false;
  int64_t steps_ = 0; // until the next vote
};

} // namespace cleave::run
