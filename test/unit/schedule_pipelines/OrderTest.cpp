// Placements of stages, and the text of orders.
#include "compiler/schedule/pipelines/Order.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;
using Ranks = std::vector<uint32_t>;

TEST_CASE("a loop places stages on one rank after the other, a V goes back") {
  CHECK(loopPlacement(3, 2) == Ranks{0, 1, 2, 0, 1, 2});
  CHECK(vPlacement(3) == Ranks{0, 1, 2, 2, 1, 0});
}

TEST_CASE("an order is one line of tasks per rank") {
  Order order = emptyOrder(2, loopPlacement(2, 1), 2);
  order.tasks[0] = {Action{Kind::Forward, 0, 1},
                    {{Kind::Forward, 0, 0}, {Kind::Backward, 0, 1}},
                    {{Kind::Recompute, 0, 0}, {Kind::Backward, 0, 0}}};
  order.tasks[1] = {{{Kind::Forward, 1, 0}, {Kind::Forward, 1, 1}},
                    Action{Kind::InputGradient, 1, 0},
                    Action{Kind::WeightGradient, 1, 0},
                    Action{Kind::Recompute, 1, 1},
                    Action{Kind::Backward, 1, 1}};
  CHECK(textOf(order) == "0F1,(0F0;0B1)OVERLAP_F_B,0C0\n(1F0;1F1)PAIR_F,1I0,1W0,1R1,1B1");
}

TEST_CASE("stages of several pipelines are numbered pipeline by pipeline") {
  Order order = emptyOrder(2, {0, 1, 1, 0}, 2);
  order.stages = 2;
  CHECK(order.pipelines() == 2);
  CHECK(order.isFirst(2));
  CHECK(order.isLast(1));
  CHECK_FALSE(order.isLast(2));
}
