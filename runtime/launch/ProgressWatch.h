// Finds the rank that holds up a job: one that makes no progress.
#pragma once

#include "runtime/base/AwakeClock.h"
#include "runtime/launch/RankProcesses.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::launch {

// The reason to end a job.
struct Verdict {
  std::string message;
  int rank = -1; // the lost rank; -1: not known
};

class ProgressWatch {
public:
  // `processes` outlives this object.
  ProgressWatch(const RankProcesses &processes, const LaunchOptions &options);

  // Looks at all ranks; to be called at least twice per second. Returns a reason to end the job.
  std::optional<Verdict> look();
  // The time since a rank's last sign of progress (step, position, or CPU time), in seconds.
  double secondsSilent(int rank);

private:
  // The last known state of a rank, and since when it is in it.
  struct Seen {
    Place place = Place::Starting;
    int64_t step = -1;
    uint64_t position = 0, cpuTime = 0;
    AwakeClock::Duration changed{0}, stepChanged{0};
    int64_t behindIn = -1; // the step in which it is while others are in later ones; -1: none is
    AwakeClock::Duration behindSince{0};
  };

  void update(int rank, AwakeClock::Duration now);
  std::optional<Verdict> findStall(AwakeClock::Duration now) const;
  std::optional<Verdict> findLaggard(AwakeClock::Duration now);
  std::optional<Verdict> findSilent(AwakeClock::Duration now) const;

  const RankProcesses &processes_;
  LaunchOptions options_;
  std::vector<Seen> seen_;
  AwakeClock clock_;
};

} // namespace cleave::launch
