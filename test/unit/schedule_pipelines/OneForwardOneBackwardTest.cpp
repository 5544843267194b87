// 1F1B, interleaved 1F1B, ZB-H1 and ZB-H2 against their closed forms.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace cleave::pipelines;
using Catch::Matchers::Contains;

TEST_CASE(
    "1F1B has GPipe's bubble, pays for transfers per micro-batch, and holds one per later stage") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 9), M = random.from(1, 20);
    const double F = random.seconds(), D = random.seconds(), c = random.seconds();
    INFO("P " << P << ", M " << M << ", F " << F << ", D " << D << ", c " << c);
    const Evaluation found = evaluated(made("1f1b", {.ranks = P, .microBatches = M}), {F, D}, c);
    CHECK(found.makespan ==
          (M + P - 1) * (F + D) + 2 * c * (P - 1 + (M - 1) * (P - 1) / P)); // rounded down
    for (uint32_t stage = 0; stage < P; ++stage)
      CHECK(found.inFlight[stage] == std::min(M, P - stage));
  }
}

TEST_CASE("interleaved 1F1B divides the bubble by the stages per rank and hides short transfers") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 5), V = random.from(1, 4), M = P * random.from(1, 4);
    const double F = random.seconds(), D = random.seconds(), c = std::min(F, D) / 4;
    INFO("P " << P << ", V " << V << ", M " << M << ", F " << F << ", D " << D);
    const Evaluation found = evaluated(
        made("interleaved", {.ranks = P, .stagesPerRank = V, .microBatches = M}), {F, D}, c);
    CHECK(found.makespan == (M * V + P - 1) * (F + D) + (P == 1 ? 0 : 2 * (P * V - 1) * c));
    for (uint32_t rank = 0; rank < P; ++rank)
      CHECK(found.inFlightOfRank[rank] == std::min(M * V, (V - 1) * P + 2 * (P - 1 - rank) + 1));
  }
}

TEST_CASE(
    "interleaved 1F1B runs rounds of more micro-batches than ranks, but not a part of a round") {
  CHECK(textOf(made("interleaved", {.ranks = 2, .stagesPerRank = 2, .microBatches = 3})) ==
        "0F0,0F1,0F2,2F0,2F1,2F2,2B0,2B1,2B2,0B0,0B1,0B2\n"
        "1F0,1F1,1F2,3F0,3B0,3F1,3B1,3F2,3B2,1B0,1B1,1B2");
  CHECK_THAT(
      refusal(orderOf("interleaved", {.ranks = 2, .stagesPerRank = 2, .microBatches = 5}).status()),
      Contains("interleaved: found 5 micro-batches on 2 ranks") &&
          Contains("expected a multiple of 2"));
}

TEST_CASE(
    "ZB-H1 fills two thirds of 1F1B's bubble and holds as many micro-batches on every stage") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 8), M = random.from(P, 3 * P);
    const double F = random.seconds(), B = random.seconds(), W = random.seconds();
    INFO("P " << P << ", M " << M << ", F " << F << ", B " << B << ", W " << W);
    const Evaluation found = evaluated(made("zb-h1", {.ranks = P, .microBatches = M}), {F, B, W});
    CHECK(found.makespan == M * (F + B + W) + (P - 1) * std::max({F, B, F + B - W}));
    if (F <= B) // otherwise the first rank ends early
      CHECK(found.longestRank == found.makespan);
    CHECK(found.inFlight == std::vector<uint32_t>(P, P));
  }
}

TEST_CASE("interleaved zero bubble waits for the forwards of the other ranks only") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 5), V = random.from(2, 4), M = P * random.from(1, 4);
    INFO("P " << P << ", V " << V << ", M " << M);
    const Evaluation found = evaluated(
        made("interleaved-zb", {.ranks = P, .stagesPerRank = V, .microBatches = M}), {1, 1, 1});
    CHECK(found.makespan == M * V * 3 + P - 1);
    CHECK(found.inFlightOfRank == std::vector<uint32_t>(P, std::min(M * V, (V - 1) * P + P)));
  }
}

TEST_CASE("ZB-H2 keeps every rank busy once it has begun, with twice the micro-batches in flight") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCase random(seed);
    const uint32_t P = random.from(1, 7), M = random.from(2 * P - 1, 4 * P);
    const double F = random.seconds(), B = random.seconds(), W = random.seconds();
    INFO("P " << P << ", M " << M << ", F " << F << ", B " << B << ", W " << W);
    const Evaluation found = evaluated(made("zb-h2", {.ranks = P, .microBatches = M}), {F, B, W});
    const double work = M * (F + B + W);
    CHECK(found.longestRank == work + (P - 1) * std::max({0.0, B - F, F + B - 2 * W}));
    CHECK(found.makespan == work + (P - 1) * std::max({F, B - F, F + B - 2 * W}));
    CHECK(found.inFlight == std::vector<uint32_t>(P, std::min(M, 2 * P - 1)));
  }
}
