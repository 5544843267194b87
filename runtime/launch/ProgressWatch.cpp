// See ProgressWatch.h.
#include "runtime/launch/ProgressWatch.h"

#include <algorithm>

namespace cleave::launch {

ProgressWatch::ProgressWatch(const RankProcesses &processes, const LaunchOptions &options)
    : processes_(processes), options_(options), seen_(size_t(processes.size())) {}

std::optional<Verdict> ProgressWatch::look() {
  AwakeClock::Duration now = clock_.now();
  for (int rank = 0; rank < processes_.size(); ++rank)
    update(rank, now);
  if (auto stall = findStall(now))
    return stall;
  if (options_.timeout.count() == 0)
    return std::nullopt;
  auto laggard = findLaggard(now);
  return laggard ? laggard : findSilent(now);
}

double ProgressWatch::secondsSilent(int rank) {
  return std::chrono::duration<double>(clock_.now() - seen_[size_t(rank)].changed).count();
}

void ProgressWatch::update(int rank, AwakeClock::Duration now) {
  const RankSlot &slot = processes_.slot(rank);
  Seen &seen = seen_[size_t(rank)];
  if (slot.step != seen.step)
    seen.stepChanged = now;
  bool isSame = slot.place == seen.place && slot.step == seen.step &&
                slot.position == seen.position && slot.cpuTime == seen.cpuTime;
  if (isSame)
    return;
  seen.changed = now;
  seen.place = slot.place, seen.step = slot.step;
  seen.position = slot.position, seen.cpuTime = slot.cpuTime;
}

std::optional<Verdict> ProgressWatch::findStall(AwakeClock::Duration now) const {
  if (options_.stallTimeout.count() == 0)
    return std::nullopt;
  AwakeClock::Duration last{0};
  for (const Seen &seen : seen_)
    last = std::max(last, seen.stepChanged);
  if (now - last <= options_.stallTimeout)
    return std::nullopt;
  return Verdict{concat("no rank began a step within ", options_.stallTimeout.count() / 1000,
                        " s; rank 0 was ", placeText(seen_[0].place, seen_[0].step))};
}

// A running rank that has been in the same step for longer than the timeout while another rank is
// in a later one. A step that is slow on all ranks does not count.
std::optional<Verdict> ProgressWatch::findLaggard(AwakeClock::Duration now) {
  int64_t furthest = -1;
  for (const Seen &seen : seen_)
    furthest = std::max(furthest, seen.step);
  for (int rank = 0; rank < processes_.size(); ++rank) {
    Seen &seen = seen_[size_t(rank)];
    bool isBehind = processes_[rank].isRunning && seen.step >= 0 && seen.step < furthest;
    if (!isBehind || seen.step != seen.behindIn) {
      seen.behindIn = isBehind ? seen.step : -1;
      seen.behindSince = now;
    } else if (now - seen.behindSince > options_.timeout) {
      return Verdict{concat("rank ", rank, " has been ", placeText(seen.place, seen.step),
                            " for more than ", options_.timeout.count() / 1000,
                            " s while other ranks are in later steps"),
                     rank};
    }
  }
  return std::nullopt;
}

// A running rank whose state stands still. In a step it must also be stopped: a rank that sleeps
// there waits for the reader of its output, or for other ranks, which have limits of their own.
std::optional<Verdict> ProgressWatch::findSilent(AwakeClock::Duration now) const {
  int factor = processes_.size() == 1 ? 1 : 2;
  for (int rank = 0; rank < processes_.size(); ++rank) {
    const Seen &seen = seen_[size_t(rank)];
    bool isSilent = processes_[rank].isRunning && now - seen.changed > factor * options_.timeout &&
                    (seen.place != Place::Running || processes_.isStopped(rank));
    if (isSilent)
      return Verdict{concat("rank ", rank, " made no progress ", placeText(seen.place, seen.step),
                            " for ", factor * options_.timeout.count() / 1000,
                            " s; it was stopped, or its storage or network does not answer "
                            "(--timeout sets the limit)"),
                     rank};
  }
  return std::nullopt;
}

} // namespace cleave::launch
