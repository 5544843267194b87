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

TEST_CASE("real numbers become complex ones with an imaginary part of 0") {
  AtenBench b;
  IValue x = b.tensor({2}, {1, 2});
  CHECK(pairs(b, b.call("aten::to", {x, int64_t(9)})) == Numbers{1, 0, 2, 0});
  CHECK(pairs(b, b.call("aten::to", {x, "cpu", int64_t(9)})) == Numbers{1, 0, 2, 0});
}

TEST_CASE("what is not known on complex numbers says so") {
  AtenBench b;
  IValue x = twoNumbers(b), real = b.tensor({2}, {1, 1});
  CHECK_THAT(b.problem("aten::exp", {x}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::mul_", {x, x}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::add", {x, real}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::sub", {x, 1.0}), Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::cat", {IValue::list({x, real}), int64_t(0)}),
             Catch::Contains("torch.view_as_real"));
  CHECK_THAT(b.problem("aten::to", {x, int64_t(6)}), Catch::Contains("real part"));
  CHECK_THAT(b.problem("aten::to", {x, "cpu", int64_t(6)}), Catch::Contains("real part"));
  CHECK_THAT(b.problem("aten::view_as_complex", {b.counted({2, 3})}),
             Catch::Contains("a last dim of size 2"));
}

TEST_CASE("Fourier transforms have PyTorch's lengths and scales") {
  AtenBench b;
  IValue x = b.tensor({4}, {1, 2, 3, 4});
  auto near = [&](const IValue &found, const Numbers &wanted) {
    const Numbers values = b.values(found);
    REQUIRE(values.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      CHECK(values[i] == Approx(wanted[i]).margin(1e-4));
  };
  auto pairs = [&](const std::string &name, const IValueList &arguments) {
    return b.call("aten::view_as_real", {b.call(name, arguments)});
  };
  near(pairs("aten::fft_fft", {x}), {10, 0, -2, 2, -2, 0, -2, -2});
  near(pairs("aten::fft_rfft", {x, IValue(), int64_t(0), "ortho"}), {5, 0, -1, 1, -1, 0});
  near(pairs("aten::fft_fft", {x, int64_t(2), int64_t(0), "forward"}), {1.5, 0, -0.5, 0});
  IValue half = b.call("aten::fft_rfft", {x});
  near(b.call("aten::fft_irfft", {half}), {1, 2, 3, 4});
  near(b.call("aten::fft_irfft", {half, int64_t(2)}), {4, 6});
  near(pairs("aten::fft_ifftn", {b.call("aten::fft_fft2", {b.counted({2, 2})})}),
       {0, 0, 1, 0, 2, 0, 3, 0});
  near(pairs("aten::_fft_c2c", {half, test::ints({0}), int64_t(2), true}),
       {2, 0.6667, 4.5774, -0.3333, 3.4226, -0.3333});
  CHECK_THAT(b.problem("aten::fft_rfft", {half}), Catch::Contains("expected real ones"));
  CHECK_THAT(b.problem("aten::fft_fft", {x, IValue(), int64_t(0), "unitary"}),
             Catch::Contains("norm"));
}
