// GPipe and looped breadth-first against their closed forms.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;

TEST_CASE("GPipe runs all forwards, then all backwards") {
  CHECK(textOf(made("gpipe", {.ranks = 2, .microBatches = 2})) ==
        "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1");
}

TEST_CASE(
    "GPipe pays (P - 1)(F + D) of bubble and 2 (P - 1) transfers, and holds M micro-batches") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 9), M = random.from(1, 20);
    const double F = random.seconds(), D = random.seconds(), c = random.seconds();
    INFO("P " << P << ", M " << M << ", F " << F << ", D " << D << ", c " << c);
    const Order order = made("gpipe", {.ranks = P, .microBatches = M});
    const Evaluation found = evaluated(order, {F, D}, c);
    CHECK(found.makespan == (M + P - 1) * (F + D) + 2 * (P - 1) * c);
    CHECK(evaluated(order, {F, D}).bubbleFraction == Approx((P - 1.0) / (M + P - 1)));
    CHECK(found.inFlight == std::vector<uint32_t>(P, M));
  }
}

TEST_CASE("looped breadth-first divides GPipe's bubble by the stages per rank") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 6), V = random.from(1, 4), M = random.from(P, 3 * P);
    const double F = random.seconds(), D = random.seconds();
    INFO("P " << P << ", V " << V << ", M " << M << ", F " << F << ", D " << D);
    const Order order = made("looped-bfs", {.ranks = P, .stagesPerRank = V, .microBatches = M});
    const Evaluation found = evaluated(order, {F, D});
    CHECK(found.makespan == (M * V + P - 1) * (F + D));
    CHECK(found.inFlightOfRank == std::vector<uint32_t>(P, M * V));
  }
}
