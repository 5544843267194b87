// Judges how a job on this machine ended: which failure was the cause of all others.
#pragma once

#include "runtime/launch/ProgressWatch.h"
#include "runtime/launch/RankProcesses.h"

namespace cleave::launch {

// What the launcher itself knows.
struct Causes {
  int signal = 0;                 // received by the launcher, which ended the job; 0: none
  bool wasGentle = false;         // the ranks were asked to end, and were not ended
  std::optional<Verdict> verdict; // of the watch
};

// The outcome after all ranks have ended. The first cause that applies: a signal to the launcher, a
// verdict of the watch, a rank ended by a signal, a rank that failed by itself, a rank that lost
// another one, a rank that ended without a report, and a signal because of which the ranks have
// ended by themselves. `ranks` of the outcome are not set.
LaunchOutcome outcomeOf(const RankProcesses &processes, const Causes &causes);

// How the process of a rank ended or failed: `ended by signal 9 (Killed)`, `failed: …`, ….
std::string endingOf(const RankProcesses &processes, int rank);

// Whether the rank is one of those that were lost, not one that failed because of it.
bool isLost(const RankProcesses &processes, const Causes &causes, int rank);

} // namespace cleave::launch
