// Chimera against its closed forms and memory interval.
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

// Calls visit(P, f, M) for sizes whose units have `unit` · P micro-batches.
template <typename Visit> void eachSize(uint32_t unit, Visit visit) {
  for (uint32_t P : {2, 4, 6, 8})
    for (uint32_t f = 1; f <= P / 2; ++f)
      for (uint32_t units = 1; units <= 3 && P / 2 % f == 0; ++units)
        visit(P, f, unit * units * P);
}

} // namespace

TEST_CASE("Chimera's pipelines fill each other's bubbles; unequal backwards leave some per unit") {
  eachSize(1, [](uint32_t P, uint32_t f, uint32_t M) {
    RandomCase random(P + f + M);
    const double F = random.seconds(), D = random.seconds();
    INFO("P " << P << ", f " << f << ", M " << M << ", F " << F << ", D " << D);
    const Order order =
        made("chimera", {.ranks = P, .microBatches = M, .pipelinesPerDirection = f});
    CHECK(order.pipelines() == 2 * f);
    const Evaluation found = evaluated(order, {F, D});
    CHECK(found.makespan ==
          Approx(M * (F + D) + (P / f - 2) * (std::max(F, D) + (M / P - 1) * std::abs(D - F))));
    const auto [least, most] =
        std::minmax_element(found.inFlightOfRank.begin(), found.inFlightOfRank.end());
    CHECK(*least >= P - P / (2 * f) + 1);
    CHECK(*most <= P);
  });
}

TEST_CASE("doubled units of Chimera have a constant bubble if a backward takes two forwards") {
  eachSize(2, [](uint32_t P, uint32_t f, uint32_t M) {
    const double F = RandomCase(P + f + M).seconds();
    INFO("P " << P << ", f " << f << ", M " << M << ", F " << F);
    const Evaluation found = evaluated(
        made("chimera-doubled", {.ranks = P, .microBatches = M, .pipelinesPerDirection = f}),
        {F, 2 * F});
    CHECK(found.makespan == 3 * M * F + 2 * (P / f - 2) * F);
    const auto [least, most] =
        std::minmax_element(found.inFlightOfRank.begin(), found.inFlightOfRank.end());
    CHECK(*least >= 2 * P - P / (2 * f) + 1);
    CHECK(*most <= 2 * P);
  });
}

TEST_CASE("Chimera refuses odd ranks, pipelines that do not divide them, and parts of a unit") {
  const auto why = [](const char *schedule, const Shape &shape) {
    return refusal(orderOf(schedule, shape).status());
  };
  CHECK_THAT(why("chimera", {.ranks = 3, .microBatches = 3}), Contains("even number of ranks"));
  CHECK_THAT(why("chimera", {.ranks = 8, .microBatches = 8, .pipelinesPerDirection = 3}),
             Contains("a divisor of its half"));
  CHECK_THAT(why("chimera", {.ranks = 4, .microBatches = 6}), Contains("a multiple of 4"));
  CHECK_THAT(why("chimera-doubled", {.ranks = 4, .microBatches = 4}), Contains("a multiple of 8"));
}
