// Drawings of small orders.
#include "compiler/schedule/pipelines/Draw.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave::pipelines;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::string drawn(const char *schedule, const Shape &shape, const StageCosts &costs,
                  size_t width = 110) {
  const Order order = made(schedule, shape);
  return draw(order, evaluated(order, costs), width);
}

} // namespace

TEST_CASE("a drawing shows tasks as long as their seconds, and bubbles as dots") {
  CHECK(drawn("1f1b", {.ranks = 2, .microBatches = 2}, {1, 2}) ==
        "rank 0  F0 F1 ......B0--- ...B1---\n"
        "rank 1  ...F0 B0--- F1 B1--- ......\n"
        "makespan 9.00 s, longest rank 9.00 s, bubble 33.3 %; in flight on ranks: 2 1\n");
}

TEST_CASE("the example of the folder's README") {
  CHECK(drawn("zb-h1", {.ranks = 3, .microBatches = 4}, {1, 1, 1}) ==
        "rank 0  F0 F1 F2 ......I0 W0 F3 I1 W1 I2 W2 I3 W3\n"
        "rank 1  ...F0 F1 ...I0 F2 I1 W0 F3 I2 W1 I3 W2 W3\n"
        "rank 2  ......F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3\n"
        "makespan 14.0 s, longest rank 14.0 s, bubble 14.3 %; in flight on ranks: 3 3 3\n");
}

TEST_CASE("ranks of several stages name the stage of each task") {
  CHECK_THAT(drawn("zb-v", {.ranks = 2, .stagesPerRank = 2, .microBatches = 1}, {1, 1, 1}),
             StartsWith("rank 0  0F0 ........3F0 3I0 3W0 ........0I0 0W0\n"
                        "rank 1  ....1F0 2F0 ........2I0 2W0 1I0 1W0 ....\n"));
}

TEST_CASE("pairs and recomputes have texts of their own") {
  CHECK_THAT(drawn("dualpipe-v", {.ranks = 1, .stagesPerRank = 2, .microBatches = 2}, {1, 1, 1}),
             Contains("1F1"
                      "0B0"));
  CHECK_THAT(drawn("critical-path", {.ranks = 2, .microBatches = 4}, {1, 2, 0, 1}),
             Contains("R0 B0") && Contains("C3"));
}

TEST_CASE("a drawing that is too wide continues in blocks that name their beginning") {
  CHECK(drawn("gpipe", {.ranks = 2, .microBatches = 3}, {1, 1}, 20) ==
        "from 0 s:\n"
        "rank 0  F0 F1 F2 ...\n"
        "rank 1  ...F0 F1 F2\n"
        "\nfrom 4.00 s:\n"
        "rank 0  ...B0 B1 B2\n"
        "rank 1  B0 B1 B2 ...\n"
        "makespan 8.00 s, longest rank 8.00 s, bubble 25.0 %; in flight on ranks: 3 3\n");
}

TEST_CASE("very short tasks do not make a drawing endless") {
  CHECK(drawn("gpipe", {.ranks = 2, .microBatches = 2}, {1e-9, 1}).size() < 100'000);
  CHECK_THAT(drawn("gpipe", {.ranks = 1, .microBatches = 1}, {0, 0}), Contains("makespan 0 s"));
}
