// How far rows of matrices lie apart.
#include "compiler/cost/Strides.h"

#include <catch2/catch.hpp>

using namespace cleave::cost;

TEST_CASE("rows of 16 bytes lie side by side, other long ones are aligned to a cache line") {
  CHECK(rowPitch(520) == 520);
  CHECK(rowPitch(516) == 576); // 8 bytes more than 16-byte chunks
  CHECK(rowPitch(50257) == 50304);
  CHECK(rowPitch(511) == 511); // short
  CHECK(rowPitch(513) == 576);
}
