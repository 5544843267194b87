// Gradients of pools: windows of a plane are evaluated once where they fit in shared memory.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using cleave::test::worstDifference;

// Windows of `side` elements at distances of `stride` in a plane of `in` x `in`.
static std::string poolGradient(const std::string &kind, int side, int stride, int in,
                                const std::string &type) {
  const int out = (in - side) / stride + 1;
  auto pair = [](int n) { return std::to_string(n) + ", " + std::to_string(n); };
  auto plane = [&](int n) {
    return "tensor<1x2x" + std::to_string(n) + "x" + std::to_string(n) + "x" + type + ">";
  };
  return "func.func @f(%g: " + plane(out) + ", %x: " + plane(in) + ") -> " + plane(in) +
         " { %r = graph.pool_grad " + kind + " %g, %x {kernel = array<i64: " + pair(side) +
         ">, strides = array<i64: " + pair(stride) +
         ">, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, "
         "0>} : " +
         plane(out) + ", " + plane(in) + " -> " + plane(in) + " return %r : " + plane(in) + " }";
}

TEST_CASE(
    "gradients of pools are the same in planes that fit in shared memory and in larger ones") {
  // 40 KiB hold the windows of a plane of 71 x 71, not those of 75 x 75.
  for (int in : {2, 9, 72, 76})
    for (const char *kind : {"max", "average"}) {
      INFO(kind << " in " << in << " x " << in);
      CHECK(worstDifference({.text = poolGradient(kind, 2, 1, in, "f32"), .tolerance = 1e-6}) <=
            1e-6);
    }
}

TEST_CASE("elements between windows have no gradient, and shares of several windows are added") {
  for (auto [side, stride] : {std::pair(1, 3), {2, 3}, {3, 1}, {3, 2}})
    for (const char *type : {"f32", "bf16", "f64"})
      for (const char *kind : {"max", "average"}) {
        INFO(kind << " of " << side << " by " << stride << " of " << type);
        const double tolerance = type == std::string("bf16") ? 1e-2 : 1e-6;
        CHECK(worstDifference({.text = poolGradient(kind, side, stride, 11, type),
                               .tolerance = tolerance}) <= tolerance);
      }
}
