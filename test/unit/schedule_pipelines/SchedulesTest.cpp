// The table of schedules: names, shapes, and valid orders of all of them.
#include "compiler/schedule/pipelines/Check.h"
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

TEST_CASE("every schedule either refuses a shape or has an order that passes the check") {
  size_t orders = 0;
  for (const Schedule &schedule : schedules())
    for (uint32_t ranks = 1; ranks <= 6; ++ranks)
      for (uint32_t perRank = 1; perRank <= 3; ++perRank)
        for (uint32_t microBatches = 1; microBatches <= 13; ++microBatches)
          for (uint32_t f = 1; f <= 2; ++f) {
            INFO(schedule.name << " " << ranks << " " << perRank << " " << microBatches << " "
                               << f);
            const Result<Order> order = orderOf(schedule.name, {ranks, perRank, microBatches, f});
            if (!order) {
              CHECK(order.status().kind() == StatusKind::UserError);
              continue;
            }
            const Status status = check(*order);
            INFO(status.message());
            CHECK(status.isOk());
            CHECK(order->ranks() == ranks);
            CHECK(order->stages == ranks * perRank);
            CHECK(order->microBatches() == microBatches);
            ++orders;
          }
  CHECK(orders > 1500);
}

TEST_CASE("unknown names and shapes that a schedule is not made for are user errors") {
  const auto why = [](const char *schedule, const Shape &shape) {
    return refusal(orderOf(schedule, shape).status());
  };
  CHECK_THAT(why("gpip", {}), Contains("unknown schedule 'gpip'; did you mean gpipe?"));
  CHECK_THAT(why("gpipe", {.ranks = 0}),
             Contains("gpipe: found 0 ranks") && Contains("expected at least 1 of each"));
  CHECK_THAT(why("1f1b", {.ranks = 2, .stagesPerRank = 2}),
             Contains("1f1b: found 2 stages per rank; expected 1"));
  CHECK_THAT(why("zb-v", {.ranks = 2}), Contains("found 1 stages per rank; expected 2"));
  CHECK_THAT(why("gpipe", {.ranks = 1u << 20, .microBatches = 1u << 20}), Contains("more than"));
  CHECK_THAT(why("zb-v", {.ranks = 1u << 20, .stagesPerRank = 2}), Contains("more than"));
}
