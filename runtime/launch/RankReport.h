// The last known state of a rank, for messages and for the flight record.
#pragma once

#include <cstdint>
#include <string>

namespace cleave::launch {

// The part of its run in which a rank is.
enum class Place : int { Starting, Loading, Running, Saving, Finishing };

// The state of one rank when its job failed.
struct RankReport {
  int rank = 0;
  Place place = Place::Starting;
  int64_t firstStep = -1;    // the first step of the process; -1: none was begun
  int64_t step = -1;         // the current or last step; -1: none was begun
  uint64_t position = 0;     // within that step (Executor.h)
  double secondsInStep = 0;  // since the begin of that step; 0 before the first
  double secondsSilent = -1; // since the last sign of progress; -1: unknown
  bool isLost = false;       // it was stopped, killed or hung, and others had to do without it
  std::string ending;        // `failed: …`, `ended by signal 9 (Killed)`, …
};

// `before its first step`, `in step 12`, `while saving after step 12`, …: the end of a sentence.
std::string placeText(Place place, int64_t step);

} // namespace cleave::launch
