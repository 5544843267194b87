// The measured rate of attention.
#include "compiler/cluster/MeasureAttention.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::cluster;

TEST_CASE("attention and its gradient have a rate that a core can reach") {
  Result<double> flops = measureAttention(0.01);
  REQUIRE(flops);
  CHECK(*flops > 1e7);
  CHECK(*flops < 1e13);
}
