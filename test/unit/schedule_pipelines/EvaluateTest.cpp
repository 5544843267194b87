// Evaluations that can be followed by hand.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

TEST_CASE("an evaluation has the times of all tasks, the longest rank and the bubble") {
  const Order order = made("zb-h2", {.ranks = 2, .microBatches = 3});
  CHECK(textOf(order) ==
        "0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2\n1F0,1I0,1F1,1I1,1F2,1I2,1W0,1W1,1W2");
  const Evaluation found = evaluated(order, {1, 1, 1});
  CHECK(found.times[1][1] == schedule::Interval{2, 3});
  CHECK(found.makespan == 10);
  CHECK(found.longestRank == 9);
  CHECK(found.bubbleFraction == Approx(0.1));
  CHECK(found.inFlight == std::vector<uint32_t>{3, 3});
}

TEST_CASE("the micro-batches in flight of a rank are the most of all its stages at one moment") {
  const Evaluation found =
      evaluated(made("interleaved", {.ranks = 2, .stagesPerRank = 2, .microBatches = 4}), {1, 2});
  CHECK(found.inFlight == std::vector<uint32_t>{4, 3, 2, 1});
  CHECK(found.inFlightOfRank == std::vector<uint32_t>{5, 3});
}

TEST_CASE("stages with different costs are bound by the slowest one") {
  const Order order = made("1f1b", {.ranks = 3, .microBatches = 50});
  Costs costs = equalCosts(3, {1, 1});
  costs.stages[1] = {2, 3};
  const Result<Evaluation> found = evaluate(order, costs);
  REQUIRE(found);
  CHECK(found->makespan >= 50 * 5);
  CHECK(found->makespan <= 50 * 5 + 2 * 5);
}

TEST_CASE("costs of other stages, or that are not seconds, are user errors") {
  const Order order = made("gpipe", {.ranks = 2, .microBatches = 1});
  CHECK_THAT(refusal(evaluate(order, equalCosts(3, {1, 1})).status()),
             Contains("found costs of 3 stages; expected those of 2"));
  CHECK_THAT(refusal(evaluate(order, equalCosts(2, {-1, 1})).status()),
             Contains("'0F0'") && Contains("takes -1 seconds"));
  CHECK_THAT(refusal(evaluate(order, equalCosts(2, {1, 1}, -1)).status()),
             Contains("waits -1 seconds"));
}

TEST_CASE("an order without its actions is refused before it is simulated") {
  Order order = made("gpipe", {.ranks = 2, .microBatches = 1});
  order.tasks[1].pop_back();
  CHECK_THAT(refusal(evaluate(order, equalCosts(2, {1, 1})).status()), Contains("is missing"));
}
