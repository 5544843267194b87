// See EndVote.h.
#include "tools/cleave-run/EndVote.h"

#include <algorithm>

namespace cleave::run {

Result<int> EndVote::after(comm::Communicator &everyone, int signal, double seconds) {
  constexpr double kSecondsBetweenVotes = 0.1;
  if (steps_-- > 0)
    return 0;
  // All ranks take the largest of their numbers of steps, so that they vote behind the same step.
  const double steps = kSecondsBetweenVotes / std::max(seconds, 1e-6);
  int64_t vote[2] = {signal, std::clamp<int64_t>(int64_t(steps), 0, 1000)};
  CLEAVE_TRY(everyone.allReduce(vote, vote, 2, DType::I64, comm::Reduce::Max));
  steps_ = vote[1];
  isDecided_ = vote[0] != 0;
  return int(vote[0]);
}

} // namespace cleave::run
