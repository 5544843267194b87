// DualPipe and DualPipe-V against their closed forms.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;
using Catch::Matchers::Contains;

TEST_CASE("DualPipe's two directions meet, and overlap forwards and backwards") {
  CHECK(textOf(made("dualpipe", {.ranks = 2, .microBatches = 4})) ==
        "0F0,3F2,0F1,3B2,(3F3;0B0)OVERLAP_F_B,3B3,0I1,0W1\n"
        "2F2,1F0,2F3,1B0,(1F1;2B2)OVERLAP_F_B,1B1,2I3,2W3");
}

TEST_CASE("DualPipe's bubble is (P / 2 - 1)(FB + D - 3 W) at equal costs without overlap") {
  for (uint32_t P : {2, 4, 6, 8})
    for (uint32_t M : {2 * P, 2 * P + 2, 4 * P}) {
      INFO("P " << P << ", M " << M);
      const Evaluation found =
          evaluated(made("dualpipe", {.ranks = P, .microBatches = M}), {1, 1, 1});
      CHECK(found.makespan == M * 3 + (P / 2 - 1) * (3 + 2 - 3));
      for (uint32_t stage = 0; stage < 2 * P; ++stage)
        CHECK(found.inFlight[stage] == P - stage % P);
      CHECK(found.inFlightOfRank == std::vector<uint32_t>(P, P + 1));
    }
}

TEST_CASE("DualPipe-V's bubble is (P - 1)(FB + D - 3 W) at equal costs without overlap") {
  for (uint32_t P : {1, 2, 3, 5, 8})
    for (uint32_t M : {2 * P, 2 * P + 1, 4 * P}) {
      INFO("P " << P << ", M " << M);
      const Evaluation found = evaluated(
          made("dualpipe-v", {.ranks = P, .stagesPerRank = 2, .microBatches = M}), {1, 1, 1});
      CHECK(found.makespan == 2 * M * 3 + (P - 1) * (3 + 2 - 3));
      for (uint32_t stage = 0; stage < 2 * P; ++stage)
        CHECK(found.inFlight[stage] == 2 * P - stage);
      CHECK(found.inFlightOfRank == std::vector<uint32_t>(P, 2 * P + 1));
    }
}

TEST_CASE("an overlapped pair takes its own seconds") {
  const Order order = made("dualpipe-v", {.ranks = 4, .stagesPerRank = 2, .microBatches = 8});
  Costs costs = equalCosts(8, {1, 1, 1});
  costs.overlap = 2.5;
  CHECK(evaluate(order, costs)->makespan < evaluated(order, {1, 1, 1}).makespan);
}

TEST_CASE("DualPipe needs two micro-batches per rank, and even numbers") {
  const auto why = [](const char *schedule, const Shape &shape) {
    return refusal(orderOf(schedule, shape).status());
  };
  CHECK_THAT(why("dualpipe", {.ranks = 4, .microBatches = 6}), Contains("at least two per rank"));
  CHECK_THAT(why("dualpipe", {.ranks = 3, .microBatches = 6}), Contains("even numbers"));
  CHECK_THAT(why("dualpipe", {.ranks = 2, .microBatches = 5}), Contains("even numbers"));
  CHECK_THAT(why("dualpipe-v", {.ranks = 3, .stagesPerRank = 2, .microBatches = 5}),
             Contains("at least two per rank"));
}
