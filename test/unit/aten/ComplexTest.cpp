// Complex numbers as pairs of real tensors.
#include "compiler/frontend/aten/Complex.h"
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

using namespace cleave;
using aten::IValue;
using aten::IValueList;
using cleave::test::AtenBench;

using Numbers = std::vector<double>;

// 1 + 2i, 3 + 4i
static IValue twoNumbers(AtenBench &b) {
  return b.call("aten::view_as_complex", {b.tensor({2, 2}, {1, 2, 3, 4})});
}

static Numbers pairs(AtenBench &b, const IValue &value) {
  return b.values(b.call("aten::view_as_real", {value}));
}

TEST_CASE("complex numbers are multiplied, conjugated and moved") {
  AtenBench b;
  IValue x = twoNumbers(b);
  CHECK(pairs(b, b.call("aten::mul", {x, x})) == Numbers{-3, 4, -7, 24});
  CHECK(pairs(b, b.call("aten::mul", {x, b.tensor({2}, {2, 3})})) == Numbers{2, 4, 9, 12});
  CHECK(pairs(b, b.call("aten::mul", {b.tensor({2}, {2, 3}), x})) == Numbers{2, 4, 9, 12});
  CHECK(pairs(b, b.call("aten::mul", {x, 2.0})) == Numbers{2, 4, 6, 8});
  CHECK(pairs(b, b.call("aten::add", {x, x})) == Numbers{2, 4, 6, 8});
  CHECK(pairs(b, b.call("aten::conj", {x})) == Numbers{1, -2, 3, -4});
  CHECK(pairs(b, b.call("aten::flip", {x, test::ints({0})})) == Numbers{3, 4, 1, 2});
  IValue joined = b.call("aten::cat", {IValue::list({x, x}), int64_t(0)});
  CHECK(pairs(b, joined) == Numbers{1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(b.call("aten::size", {x, int64_t(0)}).integer() == Polynomial(2));
  CHECK(b.values(b.call("aten::real", {x})) == Numbers{1, 3});
  CHECK(b.values(b.call("aten::imag", {x})) == Numbers{2, 4});
}

TEST_CASE("complex numbers are made of lengths and angles, or of two parts") {
  AtenBench b;
  IValue length = b.tensor({2}, {2, 3}), angle = b.tensor({2}, {0, 0});
  CHECK(pairs(b, b.call("aten::polar", {length, angle})) == Numbers{2, 0, 3, 0});
  CHECK(pairs(b, b.call("aten::complex", {length, angle})) == Numbers{2, 0, 3, 0});
}

TEST_CASE("what is not known on complex numbers says so") {
  AtenBench b;
  IValue x = twoNumbers(b), real = b.tensor({2}, {1, 1});
  CHECK_THAT(b.problem("aten::exp", {x}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::mul_", {x, x}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::add", {x, real}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::to", {x, int64_t(6)}), Catch::Contains("real part"));
  CHECK_THAT(b.problem("aten::view_as_complex", {b.counted({2, 3})}),
             Catch::Contains("a last dim of size 2"));
}
