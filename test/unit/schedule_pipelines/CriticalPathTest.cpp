// Merak's schedules against their closed forms.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

double makespanOf(const char *schedule, uint32_t ranks, uint32_t microBatches,
                  const StageCosts &costs) {
  return evaluated(made(schedule, {.ranks = ranks, .microBatches = microBatches}), costs).makespan;
}

} // namespace

TEST_CASE("the critical path gets shorter by recomputes off the path, whatever the micro-batches") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(2, 9), M = random.from(std::max(4u, P), 30);
    const double F = random.seconds(), D = 2 * F + random.seconds(), R = F;
    INFO("P " << P << ", M " << M << ", F " << F << ", D " << D);
    const StageCosts costs{F, D, 0, R};
    const double all = (M + P - 1) * (F + D + R);
    CHECK(makespanOf("1f1b-recompute", P, M, costs) == all);
    CHECK(makespanOf("pre-recompute", P, M, costs) == all - (P - 1) * R);
    CHECK(makespanOf("last-no-recompute", P, M, costs) == all - (P + 1) * R);
    CHECK(makespanOf("critical-path", P, M, costs) == all - (P + 2) * R);
  }
}

TEST_CASE("Merak's published example: 76, 73, 71 and 70 seconds on 4 ranks") {
  const StageCosts costs{1, 2, 0, 1};
  CHECK(makespanOf("1f1b", 4, 16, costs) == 57);
  CHECK(makespanOf("1f1b-recompute", 4, 16, costs) == 76);
  CHECK(makespanOf("pre-recompute", 4, 16, costs) == 73);
  CHECK(makespanOf("last-no-recompute", 4, 16, costs) == 71);
  CHECK(makespanOf("critical-path", 4, 16, costs) == 70);
  CHECK(makespanOf("critical-path", 8, 32, costs) == 146);
}

TEST_CASE("the critical path exchanges one forward, which costs a micro-batch in flight") {
  const Order order = made("critical-path", {.ranks = 3, .microBatches = 4});
  CHECK(textOf(order) == "0F0,0F1,0F2,0R0,0B0,0F3,0C1,0R2,0B2,0R3,0B3\n"
                         "1F0,1F1,1F2,1R0,1B0,1R1,1B1,1F3,1C2,1C3\n"
                         "2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3");
  CHECK(evaluated(order, {1, 2, 0, 1}).inFlight == std::vector<uint32_t>{3, 3, 1});
}

TEST_CASE("the critical path needs two ranks, and a micro-batch per rank") {
  for (const Shape &shape : {Shape{.ranks = 1, .microBatches = 8},
                             {.ranks = 2, .microBatches = 3},
                             {.ranks = 8, .microBatches = 7}})
    CHECK_THAT(refusal(orderOf("critical-path", shape).status()), Contains("at least 2 ranks"));
}
