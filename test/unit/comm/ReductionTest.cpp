// The arithmetic of reductions and the 16-bit floats.
#include "runtime/comm/Reduction.h"
#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace cleave;
using namespace cleave::comm;

TEST_CASE("16-bit floats keep every value, round to nearest even and keep infinities and NaN") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    if (std::isnan(fromF16(half)))
      CHECK(std::isnan(fromF16(toF16(fromF16(half)))));
    else
      REQUIRE(toF16(fromF16(half)) == half);
    if (!std::isnan(fromBF16(half)))
      REQUIRE(toBF16(fromBF16(half)) == half);
  }
  CHECK(fromF16(0x3c00) == 1.0f);
  CHECK(fromF16(0x0001) == 0x1p-24f);
  CHECK(fromF16(0x7bff) == 65504.0f);
  CHECK(toF16(65520.0f) == 0x7c00);        // rounds up to infinity
  CHECK(toF16(1.0f + 0x1p-11f) == 0x3c00); // a tie goes to even
  CHECK(toF16(1.0f + 0x3p-11f) == 0x3c02); // a tie goes to even
  CHECK(toBF16(1.0f + 0x1p-8f) == 0x3f80); // a tie goes to even
  CHECK(toBF16(1.0f + 0x3p-8f) == 0x3f82);
  CHECK(std::isnan(fromBF16(toBF16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("16-bit floats are summed in f32 and rounded once") {
  // 257 is not a bf16: a sum in bf16 steps would be 256.
  std::vector<uint16_t> big{toBF16(256)}, one{toBF16(1)};
  uint16_t sum = 0;
  reduceInOrder(DType::BF16, Reduce::Sum, {big.data(), one.data(), one.data()}, &sum, 1);
  CHECK(fromBF16(sum) == 258.0f);
}

TEST_CASE("a maximum or minimum with a NaN is NaN, whichever member has it") {
  double nan = std::numeric_limits<double>::quiet_NaN(), one = 1, two = 2, result = 0;
  for (Reduce op : {Reduce::Max, Reduce::Min}) {
    reduceInOrder(DType::F64, op, {&nan, &one, &two}, &result, 1);
    CHECK(std::isnan(result));
    reduceInOrder(DType::F64, op, {&one, &two, &nan}, &result, 1);
    CHECK(std::isnan(result));
  }
}

TEST_CASE("integers wrap around and the sum of bools is `or`") {
  int8_t a = 100, b = 100, sum = 0;
  reduceInOrder(DType::I8, Reduce::Sum, {&a, &b}, &sum, 1);
  CHECK(sum == -56);
  uint8_t yes = 1, no = 0, any = 0;
  reduceInOrder(DType::Bool, Reduce::Sum, {&yes, &no, &yes}, &any, 1);
  CHECK(any == 1);
}
