// Kernels that are no groups: gather, scatter_add and pooling.
#include "KernelHarness.h"

#include <catch2/catch.hpp>

using cleave::test::worstDifference;

TEST_CASE("gather gives zero rows for indices out of range") {
  CHECK(worstDifference(
            {R"(func.func @f(%x: tensor<5x7xf32>, %i: tensor<2x9xi64>) -> tensor<2x9x7xf32> {
    %r = graph.gather %x at %i dim 0 : tensor<5x7xf32>, tensor<2x9xi64> -> tensor<2x9x7xf32>
    return %r : tensor<2x9x7xf32>
  })",
             {},
             0,
             -3,
             9}) == 0);
  CHECK(worstDifference(
            {R"(func.func @f(%x: tensor<3x5x2xf32>, %i: tensor<4xi32>) -> tensor<3x4x2xf32> {
    %r = graph.gather %x at %i dim 1 : tensor<3x5x2xf32>, tensor<4xi32> -> tensor<3x4x2xf32>
    return %r : tensor<3x4x2xf32>
  })",
             {},
             0,
             -3,
             9}) == 0);
}

TEST_CASE("scatter_add sums rows of equal index and drops those out of range") {
  CHECK(worstDifference(
            {R"(func.func @f(%x: tensor<2x9x7xf32>, %i: tensor<2x9xi64>) -> tensor<5x7xf32> {
    %r = graph.scatter_add %x at %i dim 0 : tensor<2x9x7xf32>, tensor<2x9xi64> -> tensor<5x7xf32>
    return %r : tensor<5x7xf32>
  })",
             {},
             1e-6,
             -2,
             7}) <= 1e-6);
  CHECK(worstDifference(
            {R"(func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<4xi64>) -> tensor<3x5x2xf32> {
    %r = graph.scatter_add %x at %i dim 1 : tensor<3x4x2xf32>, tensor<4xi64> -> tensor<3x5x2xf32>
    return %r : tensor<3x5x2xf32>
  })",
             {},
             1e-6,
             -2,
             7}) <= 1e-6);
}

static std::string pool(const std::string &kind, const std::string &attributes, bool gradient) {
  std::string window =
      "{kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, "
      "pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 1>" +
      attributes + "}";
  std::string in = "tensor<2x3x7x6xf32>", out = "tensor<2x3x4x5xf32>";
  if (!gradient)
    return "func.func @f(%x: " + in + ") -> " + out + " { %r = graph.pool " + kind + " %x " +
           window + " : " + in + " -> " + out + " return %r : " + out + " }";
  return "func.func @f(%g: " + out + ", %x: " + in + ") -> " + in + " { %r = graph.pool_grad " +
         kind + " %g, %x " + window + " : " + out + ", " + in + " -> " + in + " return %r : " + in +
         " }";
}

TEST_CASE("pooling and its gradient, with padding, strides and dilation") {
  for (bool gradient : {false, true}) {
    CHECK(worstDifference({pool("max", "", gradient), {}, 1e-6}) <= 1e-6);
    CHECK(worstDifference({pool("average", "", gradient), {}, 1e-6}) <= 1e-6);
    CHECK(worstDifference({pool("average", ", count_padding", gradient), {}, 1e-6}) <= 1e-6);
  }
}
