// ZB-V against its closed forms.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;

TEST_CASE("ZB-V has no bubble at equal costs, and 2 P micro-batches in flight on every rank") {
  for (uint32_t P = 1; P <= 8; ++P)
    for (uint32_t M : {2 * P - 1, 2 * P, 3 * P + 1}) {
      INFO("P " << P << ", M " << M);
      const Evaluation found =
          evaluated(made("zb-v", {.ranks = P, .stagesPerRank = 2, .microBatches = M}), {1, 1, 1});
      CHECK(found.longestRank == 2 * M * 3);
      CHECK(found.makespan == 2 * M * 3 + P - 1);
      for (uint32_t stage = 0; stage < 2 * P; ++stage)
        CHECK(found.inFlight[stage] == std::min(M, 2 * P - stage));
    }
}

TEST_CASE(
    "ZB-V idles 4 d (P - 1) seconds if weight gradients are 2 d shorter than input gradients") {
  for (double d : {0.25, 0.5, 1.0}) {
    const Evaluation found = evaluated(
        made("zb-v", {.ranks = 4, .stagesPerRank = 2, .microBatches = 8}), {1, 1 + d, 1 - d});
    CHECK(found.longestRank == 2 * 8 * 3 + 4 * d * 3);
  }
}

TEST_CASE("ZB-V with few micro-batches is the order of more without the last ones") {
  CHECK(textOf(made("zb-v", {.ranks = 2, .stagesPerRank = 2, .microBatches = 1})) ==
        "0F0,3F0,3I0,3W0,0I0,0W0\n1F0,2F0,2I0,2W0,1I0,1W0");
  CHECK(evaluated(made("zb-v", {.ranks = 4, .stagesPerRank = 2, .microBatches = 4}), {1, 1, 1})
            .makespan == 30);
}
