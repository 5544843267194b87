// Timelines that are not valid.
#include "test/unit/schedule/Simulated.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace cleave::schedule;
using Catch::Matchers::Contains;

TEST_CASE("a message that nobody sends is an error") {
  TimelineBuilder b;
  const uint32_t link = b.resource(ResourceKind::Link);
  b.task("receive a", link, 1, {}, b.meeting(2));
  CHECK_THAT(refusal(b.timeline), Contains("'receive a' (task 0: rank 0, link 0) is in a meeting "
                                           "of 2 tasks, of which 1 exist"));
}

TEST_CASE("indices to nothing and invalid seconds are errors") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute);
  const uint32_t task = b.task("t", compute, 1);
  const uint32_t device = b.space(SpaceKind::Device);
  b.buffer(device, 1, {task});
  auto refusalOf = [&](auto change) {
    Timeline broken = b.timeline;
    change(broken);
    return refusal(broken);
  };
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].name = 1; }),
             Contains("task 0 has name 1 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].unit = 1; }), Contains("has unit 1 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].resource = 2; }),
             Contains("has resource 2 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].meeting = 0; }),
             Contains("has meeting 0 of 0"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].seconds = -1; }), Contains("takes -1 seconds"));
  for (double seconds :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK_THAT(refusalOf([&](Timeline &t) { t.tasks[0].seconds = seconds; }),
               Contains("expected a finite number"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.dependencies.push_back({4, 0}); }),
             Contains("task 0 depends on task 4, and there are 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.dependencies.push_back({0, 0, -1}); }),
             Contains("'t' (task 0: rank 0, compute) waits -1 seconds after task 0"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.buffers[0].space = 3; }), Contains("space 3 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.accesses[0].buffer = 9; }), Contains("buffer 9 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.accesses[0].task = 9; }), Contains("task 9 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.resources[0].rank = 5; }), Contains("rank 5"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.resources.push_back(t.resources[0]); }),
             Contains("rank 0 has two compute resources"));
}
