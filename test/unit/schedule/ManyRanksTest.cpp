// A step of 1,024 ranks: its known times, and the work that it takes, which is counted and not
// timed. test/bench/ScheduleBench.cpp times it.
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/Trace.h"
#include "test/unit/schedule/Pipeline.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::schedule;

TEST_CASE("1F1B fills and drains: its first stage is idle for all but its own tasks") {
  const PipelineSizes sizes{.stages = 4, .replicas = 2, .microBatches = 8};
  const Result<Simulation> found = simulate(pipeline(sizes));
  INFO(found.status().message());
  REQUIRE(found);
  // The bubble of 1F1B lasts as long as one micro-batch in the three other stages, forward 1 and
  // backward 2, plus messages of 0.1. The all-reduce and the update of stage 0 end the step.
  CHECK(found->busySeconds[0] == Approx(8 * 3 + 1));
  CHECK(found->seconds > 3 * (4 - 1 + 8) + 3 + 1);
  CHECK(found->seconds < 3 * (4 - 1 + 8) + 3 + 1 + 2 * 0.1 * (4 + 8));
  for (uint32_t stage = 0; stage < sizes.stages; ++stage) // in flight: stages from here on
    CHECK(found->live[stage * sizes.replicas].peak == (sizes.stages - stage) << 20);
}

TEST_CASE("a step of 1,024 ranks takes work in proportion to its tasks, and so does its trace") {
  const Timeline timeline = pipeline({.stages = 32, .replicas = 32, .microBatches = 16});
  const Result<Simulation> found = simulate(timeline);
  INFO(found.status().message());
  REQUIRE(found);
  const size_t tasks = timeline.tasks.size();
  CHECK(tasks > 95'000);
  CHECK(found->ends.size() == tasks);
  CHECK(found->visits <= 2 * tasks + timeline.dependencies.size());
  const std::string trace = traceOf(timeline, *found);
  CHECK(trace.size() > 50 * tasks);
  CHECK(trace.size() < 250 * tasks);
}
