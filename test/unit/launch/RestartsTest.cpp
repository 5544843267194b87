// When a job is started again.
#include "runtime/launch/Restarts.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::launch;

static LaunchOutcome lost(bool hasCompletedStep) {
  return {.exitCode = 3,
          .message = "rank 1 is gone",
          .isRestartable = true,
          .lostRanks = 1,
          .hasCompletedStep = hasCompletedStep};
}

TEST_CASE("lost ranks are replaced as often as allowed") {
  Restarts restarts(3);
  CHECK(restarts.text() == "");
  for (int i = 1; i <= 3; ++i) {
    CHECK(restarts.startAgain(lost(true)));
    CHECK(restarts.made() == i);
  }
  CHECK_FALSE(restarts.startAgain(lost(true)));
  CHECK(restarts.text() == "; restarted 3 times");
}

TEST_CASE("user errors and defects are no reason to start again") {
  Restarts restarts(3);
  CHECK_FALSE(restarts.startAgain({.exitCode = 1, .message = "no such file"}));
  CHECK_FALSE(restarts.startAgain({.exitCode = 4, .message = "two and two made five"}));
  CHECK(restarts.made() == 0);
}

TEST_CASE("two restarts in a row without a completed step are the last ones") {
  Restarts restarts(100);
  CHECK(restarts.startAgain(lost(false)));       // the first attempt is not a restart
  CHECK(restarts.startAgain(lost(false)));       // one in vain
  CHECK_FALSE(restarts.startAgain(lost(false))); // two in vain
  CHECK(restarts.text() == "; restarted 2 times, the last two times without completing a step");
}

TEST_CASE("a completed step makes up for a restart without one") {
  Restarts restarts(100);
  CHECK(restarts.startAgain(lost(true)));
  for (int i = 0; i < 10; ++i) {
    CHECK(restarts.startAgain(lost(false)));
    CHECK(restarts.startAgain(lost(true)));
  }
}
