// The progress that a search for a plan shows.
#include "passes/driver/PlanProgress.h"

#include <catch2/catch.hpp>

using namespace cleave;
using driver::PlanProgress;

static planner::PlanReport planOf(double seconds, int64_t bytes) {
  planner::PlanReport plan;
  plan.seconds = seconds;
  plan.arenaBytes = bytes;
  return plan;
}

TEST_CASE("progress counts plans and names the fastest that fits") {
  PlanProgress progress("stage 3", planner::Budget(1000));
  CHECK(progress.text() == "planning stage 3");
  progress.add(planOf(1, 5000));
  CHECK(progress.text() ==
        "planning stage 3: 1 plan tried, none fits yet, the smallest takes 4.88 KiB of 1000 B");
  progress.add(planOf(3, 1000));
  progress.add(planOf(4, 900));
  progress.add(planOf(2, 1001)); // faster, but too large
  CHECK(progress.text() == "planning stage 3: 4 plans tried, the fastest that fits takes 3.00 s");
}

TEST_CASE("progress is shown only where somebody looks at it") {
  driver::Compilation c({});
  planner::PlannerOptions options;
  driver::showProgress(c, "", options);
  CHECK(!options.onPlan);

  std::vector<std::string> shown;
  c.onProgress = [&](const std::string &text) { shown.push_back(text); };
  driver::showProgress(c, "", options);
  options.onPlan(planOf(2, 10));
  CHECK(shown == std::vector<std::string>{
                     "planning", "planning: 1 plan tried, the fastest that fits takes 2.00 s"});
}
