// Functions of single precision on GPUs, against those of the C library in double precision. The
// interpreter's 2^x is exact: the error of the GPU's instruction, 2^-22, comes on top.
#include "test/unit/codegen/KernelHarness.h"

#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace cleave;

namespace {

constexpr int kCount = 4096;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The function `name` of numbers from -limit to limit, evenly spaced and, in every second one,
// evenly spaced in their logarithm; then special numbers.
std::vector<float> arguments(double limit) {
  std::vector<float> x;
  for (int i = 0; i < kCount - 4; ++i) {
    double part = (i / 2 + 0.5) / (kCount / 2 - 2), sign = i / 2 % 2 ? 1 : -1;
    x.push_back(static_cast<float>(sign * limit * (i % 2 ? std::pow(2.0, -40 * part) : part)));
  }
  for (float special : {0.0f, kInfinity, -kInfinity, std::nanf("")})
    x.push_back(special);
  return x;
}

// The largest error relative to the result, except where that is below the normal numbers.
double worstError(const std::string &name, bool isShort, double limit, double (*exact)(double)) {
  const std::string type = isShort ? "bf16" : "f32", n = std::to_string(kCount);
  auto kernel = test::CompiledKernel::compile(
      {"func.func @f(%x: tensor<" + n + "xf32>) -> tensor<" + n +
       "xf32> { %r = graph.fusion (%a = " + "%x : tensor<" + n + "xf32>) -> (tensor<" + n +
       "xf32>) {\n" + "%c = graph.cast %a : tensor<" + n + "xf32> -> tensor<" + n + "x" + type +
       ">\n" + "%e = graph." + name + " %c : tensor<" + n + "x" + type + ">\n" +
       "%w = graph.cast %e : tensor<" + n + "x" + type + "> -> tensor<" + n + "xf32>\n" +
       "graph.yield %w : tensor<" + n + "xf32>\n}\nreturn %r : tensor<" + n + "xf32> }"});
  REQUIRE(kernel);
  std::vector<float> x = arguments(limit);
  alignas(64) static float in[kCount], out[kCount];
  std::copy(x.begin(), x.end(), in);
  void *buffers[] = {in, out};
  REQUIRE(kernel->run(buffers, 0, kernel->extent()));
  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    double argument = isShort ? fromBF16(toBF16(in[i])) : in[i], expected = exact(argument);
    INFO(name << " of " << type << " " << argument << " is " << out[i]);
    if (std::isnan(expected) || std::isinf(expected) || expected == 0 || expected > 3.4e38)
      CHECK((std::isnan(expected)                    ? std::isnan(out[i])
             : std::isinf(expected) || expected == 0 ? out[i] == expected
                                                     : std::isinf(out[i])));
    else if (std::fabs(expected) > 1.2e-38)
      worst = std::max(worst, std::fabs(out[i] - expected) / std::fabs(expected));
    else
      CHECK(std::fabs(out[i]) <= 1.2e-38);
  }
  return worst;
}

} // namespace

TEST_CASE("functions of f32 have an error of few units in the last place") {
  CHECK(worstError("exp", false, 110, std::exp) <= 2e-7);
  CHECK(worstError("tanh", false, 12, std::tanh) <= 3e-7);
  CHECK(worstError("erf", false, 6, std::erf) <= 3e-7);
}

// Half a unit in the last place is 2^-9.
TEST_CASE("functions of bf16 have hardly more error than their rounding") {
  CHECK(worstError("exp", true, 80, std::exp) <= 1.01 * std::ldexp(1, -9));
  CHECK(worstError("tanh", true, 12, std::tanh) <= 1.03 * std::ldexp(1, -9));
  CHECK(worstError("erf", true, 6, std::erf) <= 1.03 * std::ldexp(1, -9));
}
