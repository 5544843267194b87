// See Outcome.h.
#include "runtime/launch/Outcome.h"

#include <algorithm>
#include <cstring>
#include <sys/wait.h>

namespace cleave::launch {
namespace {

constexpr int kLost = static_cast<int>(StatusKind::Lost);

std::string placeOf(const RankProcesses &processes, int rank) {
  return placeText(processes.slot(rank).place, processes.slot(rank).step);
}

// Whether the rank was ended by a signal that the launcher did not send.
bool hasCrashed(const RankProcesses &processes, int rank) {
  return WIFSIGNALED(processes[rank].waitStatus) && !processes[rank].isSignalled;
}

// Whether the launcher had to end the rank, and it had not failed by itself.
bool wasHung(const RankProcesses &processes, int rank) {
  bool isEnded = processes[rank].isSignalled || processes[rank].isAbandoned;
  return isEnded && processes.slot(rank).failedAt == 0;
}

// The ranks that the launcher had to end, as the end of a message.
std::string hungRanks(const RankProcesses &processes) {
  std::string text;
  for (int i = 0; i < processes.size(); ++i)
    if (wasHung(processes, i))
      text += concat("; rank ", i, " was still running, ", placeOf(processes, i),
                     processes[i].isAbandoned ? ", and could not be ended" : ", and was ended");
  return text;
}

LaunchOutcome crashOf(const RankProcesses &processes, int rank) {
  int number = WTERMSIG(processes[rank].waitStatus);
  bool isDefect = number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
                  number == SIGFPE;
  StatusKind kind = isDefect ? StatusKind::Defect : StatusKind::Lost;
  const char *hint =
      number == SIGKILL ? "; unless a user sent it, the machine may have run out of memory" : "";
  return {.exitCode = static_cast<int>(kind),
          .message = concat("rank ", rank, " was ended by signal ", number, " (", strsignal(number),
                            ") ", placeOf(processes, rank), hint),
          .isRestartable = true};
}

// The rank that reported first, among those that lost another rank or among the others; -1: none.
int firstFailure(const RankProcesses &processes, bool hasLostAnother) {
  int first = -1;
  for (int i = 0; i < processes.size(); ++i) {
    const RankSlot &slot = processes.slot(i);
    bool isCandidate = slot.failedAt != 0 && (slot.kind == kLost) == hasLostAnother;
    if (isCandidate && (first < 0 || slot.failedAt < processes.slot(first).failedAt))
      first = i;
  }
  return first;
}

LaunchOutcome reportedFailure(const RankProcesses &processes, int rank) {
  const RankSlot &slot = processes.slot(rank);
  if (slot.kind == static_cast<int>(StatusKind::UserError))
    return {.exitCode = slot.kind, .message = slot.message};
  return {.exitCode = slot.kind,
          .message = concat("rank ", rank, ", ", placeOf(processes, rank), ": ", slot.message,
                            hungRanks(processes)),
          .isRestartable = slot.kind == kLost};
}

LaunchOutcome silentExit(const RankProcesses &processes) {
  for (int i = 0; i < processes.size(); ++i) {
    int code = WIFEXITED(processes[i].waitStatus) ? WEXITSTATUS(processes[i].waitStatus) : 0;
    if (code != 0)
      return {.exitCode = code,
              .message =
                  concat("rank ", i, " ended with exit code ", code, " ", placeOf(processes, i)),
              .isRestartable = code == kLost};
  }
  return {};
}

LaunchOutcome causeOf(const RankProcesses &processes, const Causes &causes) {
  const std::string ended =
      concat("ended by signal ", causes.signal, " (", strsignal(causes.signal), ")");
  if (causes.signal && !causes.wasGentle)
    return {.exitCode = 128 + causes.signal,
            .message = concat(ended, ", rank 0 was ", placeOf(processes, 0))};
  if (causes.verdict)
    return {.exitCode = kLost, .message = causes.verdict->message, .isRestartable = true};
  for (int i = 0; i < processes.size(); ++i)
    if (hasCrashed(processes, i))
      return crashOf(processes, i);
  for (bool hasLostAnother : {false, true})
    if (int rank = firstFailure(processes, hasLostAnother); rank >= 0)
      return reportedFailure(processes, rank);
  LaunchOutcome outcome = silentExit(processes);
  if (outcome.exitCode != 0 || !causes.signal)
    return outcome;
  return {.exitCode = 128 + causes.signal,
          .message = concat(ended, " after step ", processes.slot(0).step.load()),
          .wasGentle = true};
}

} // namespace

std::string endingOf(const RankProcesses &processes, int rank) {
  const RankProcesses::Rank &process = processes[rank];
  if (processes.slot(rank).failedAt != 0)
    return concat("failed: ", processes.slot(rank).message);
  if (process.isAbandoned)
    return "could not be ended";
  if (process.isSignalled)
    return process.wasStopped ? "was stopped, and ended by the launcher" : "ended by the launcher";
  if (WIFSIGNALED(process.waitStatus))
    return concat("ended by signal ", WTERMSIG(process.waitStatus), " (",
                  strsignal(WTERMSIG(process.waitStatus)), ")");
  return concat("ended with exit code ", WEXITSTATUS(process.waitStatus));
}

// Crashed ranks; else the one that the watch found; else, of the ranks that the launcher had to
// end, those that were stopped, or all if none was.
bool isLost(const RankProcesses &processes, const Causes &causes, int rank) {
  bool anyCrashed = false, anyStopped = false;
  for (int i = 0; i < processes.size(); ++i) {
    anyCrashed |= hasCrashed(processes, i);
    anyStopped |= wasHung(processes, i) && processes[i].wasStopped;
  }
  if (anyCrashed)
    return hasCrashed(processes, rank);
  if (causes.verdict && causes.verdict->rank >= 0)
    return causes.verdict->rank == rank;
  return wasHung(processes, rank) && (!anyStopped || processes[rank].wasStopped);
}

LaunchOutcome outcomeOf(const RankProcesses &processes, const Causes &causes) {
  LaunchOutcome outcome = causeOf(processes, causes);
  outcome.isRestartable = outcome.isRestartable && !causes.signal;
  for (int i = 0; i < processes.size(); ++i) {
    const RankSlot &slot = processes.slot(i);
    outcome.hasCompletedStep |= slot.firstStep >= 0 && slot.step > slot.firstStep;
    outcome.lostRanks += outcome.isRestartable && isLost(processes, causes, i);
  }
  outcome.lostRanks = outcome.isRestartable ? std::max(1, outcome.lostRanks) : 0;
  return outcome;
}

} // namespace cleave::launch
