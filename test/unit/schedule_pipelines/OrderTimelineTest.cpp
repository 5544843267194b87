// Timelines of small orders.
#include "compiler/schedule/pipelines/OrderTimeline.h"

#include "compiler/schedule/Simulate.h"
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::pipelines;

TEST_CASE("a timeline has a task per task of the order, and a delay between ranks") {
  const Order order = made("zb-v", {.ranks = 2, .stagesPerRank = 2, .microBatches = 1});
  Costs costs = equalCosts(4, {1, 2, 4});
  costs.transfer = 0.5;
  const schedule::Timeline timeline = timelineOf(order, costs);
  REQUIRE(timeline.tasks.size() == 12);
  CHECK(timeline.names[timeline.tasks[2].name] == "3I0");
  CHECK(timeline.tasks[2].seconds == 2);
  CHECK(timeline.tasks[3].seconds == 4);
  CHECK(timeline.units[3].ranks == std::vector<uint32_t>{0});
  const Result<schedule::Simulation> found = schedule::simulate(timeline);
  REQUIRE(found);
  // 0F0 ends at 1, 1F0 and 2F0 follow on rank 1 with one transfer before and one after them.
  CHECK(found->begins[1] == 4);
}

TEST_CASE("a full backward takes both halves, and a pair the sum of its actions") {
  const Order order = emptyOrder(1, {0}, 2);
  Costs costs = equalCosts(1, {1, 2, 4, 8});
  const Action forward{Kind::Forward, 0, 0}, backward{Kind::Backward, 0, 1};
  CHECK(secondsOf(order, costs, backward) == 6);
  CHECK(secondsOf(order, costs, {forward, backward}) == 7);
  CHECK(secondsOf(order, costs, {forward, {Kind::Forward, 0, 1}}) == 2);
  CHECK(secondsOf(order, costs, {{Kind::Recompute, 0, 1}, backward}) == 14);
  costs.overlap = 6.5;
  CHECK(secondsOf(order, costs, {forward, backward}) == 6.5);
}
