// Decides whether a job that lost ranks is started again.
#pragma once

#include "runtime/launch/Launch.h"

#include <string>

namespace cleave::launch {

class Restarts {
public:
  // At most `allowed` restarts.
  explicit Restarts(int allowed) : allowed_(allowed) {}

  // Whether to start the job again after this outcome of an attempt; counts the restart if so. Only
  // lost ranks are a reason. Two restarts in a row without a completed step are the last ones: what
  // ends the job so soon will do it again.
  bool startAgain(const LaunchOutcome &outcome);

  int made() const { return made_; }
  int allowed() const { return allowed_; }
  // What was done, as the end of a message: `; restarted 2 times`; empty if there was none.
  std::string text() const;

private:
  int allowed_;
  int made_ = 0;
  int fruitless_ = 0; // restarts in a row after which no step was completed
};

} // namespace cleave::launch
