// Kernels that reduce rows and columns: gradients of norms.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

namespace {

// The gradient of a norm over rows of M, with the sums of the columns over N rows of each of two
// parts; results are for the operand, in two types, and the scale.
const char kNormGradient[] =
    R"(func.func @f(%x: tensor<2xNxMxf32>, %y: tensor<2xNxMxbf16>, %z: tensor<2xNxMxf32>, %w: tensor<Mxf32>, %v: tensor<2xNxf32>)
      -> (tensor<2xNxMxf32>, tensor<2xMxf32>, tensor<2xNxMxbf16>, tensor<2xMxf32>, tensor<2xNxf32>) {
    %r:5 = graph.fusion (%a = %x : tensor<2xNxMxf32>, %b = %y : tensor<2xNxMxbf16>, %c = %z : tensor<2xNxMxf32>, %s = %w : tensor<Mxf32>, %q = %v : tensor<2xNxf32>)
        -> (tensor<2xNxMxf32>, tensor<2xMxf32>, tensor<2xNxMxbf16>, tensor<2xMxf32>, tensor<2xNxf32>) {
      %e = graph.exp %q : tensor<2xNxf32>
      %eb = graph.broadcast %e to [0, 1] : tensor<2xNxf32> -> tensor<2xNxMxf32>
      %u = graph.mul %a, %eb : tensor<2xNxMxf32>
      %g = graph.cast %b : tensor<2xNxMxbf16> -> tensor<2xNxMxf32>
      %sb = graph.broadcast %s to [2] : tensor<Mxf32> -> tensor<2xNxMxf32>
      %h = graph.mul %g, %sb : tensor<2xNxMxf32>
      %p = graph.mul %h, %u : tensor<2xNxMxf32>
      %t = graph.reduce sum %p over [2] : tensor<2xNxMxf32> -> tensor<2xNxf32>
      %m = graph.reduce max %h over [2] : tensor<2xNxMxf32> -> tensor<2xNxf32>
      %tm = graph.mul %t, %m : tensor<2xNxf32>
      %tb = graph.broadcast %tm to [0, 1] : tensor<2xNxf32> -> tensor<2xNxMxf32>
      %d = graph.sub %h, %tb : tensor<2xNxMxf32>
      %o = graph.add %d, %c : tensor<2xNxMxf32>
      %n = graph.cast %o : tensor<2xNxMxf32> -> tensor<2xNxMxbf16>
      %k = graph.mul %g, %u : tensor<2xNxMxf32>
      %scale = graph.reduce sum %k over [1] : tensor<2xNxMxf32> -> tensor<2xMxf32>
      %bias = graph.reduce max %o over [1] : tensor<2xNxMxf32> -> tensor<2xMxf32>
      graph.yield %o, %scale, %n, %bias, %tm : tensor<2xNxMxf32>, tensor<2xMxf32>, tensor<2xNxMxbf16>, tensor<2xMxf32>, tensor<2xNxf32>
    }
    return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<2xNxMxf32>, tensor<2xMxf32>, tensor<2xNxMxbf16>, tensor<2xMxf32>, tensor<2xNxf32>
  })";

} // namespace

TEST_CASE("a kernel computes a norm's gradient and the sums of its columns, also in place") {
  struct Size {
    int rows, columns;
  };
  for (Size size : {Size{1, 8}, {3, 2}, {2, 33}, {5, 96}, {4, 768}, {2, 1000}, {2, 2056}})
    for (bool inPlace : {false, true}) {
      INFO(size.rows << " x " << size.columns << (inPlace ? " in place" : ""));
      KernelCase testCase;
      testCase.text = sized(kNormGradient, size.rows, size.columns);
      if (inPlace)
        testCase.inPlace = {{0, 2}, {2, 1}};
      testCase.tolerance = 1e-2; // a result in bf16
      CHECK(worstDifference(testCase) <= testCase.tolerance);
    }
}
