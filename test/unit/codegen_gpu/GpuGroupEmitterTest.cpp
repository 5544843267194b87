// Pointwise kernels and kernels of rows, at the sizes where threads share the work differently.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

namespace {

const char kPointwise[] =
    R"(func.func @f(%x: tensor<NxMxf32>, %y: tensor<NxMxbf16>, %w: tensor<Mxf32>) -> (tensor<NxMxf32>, tensor<NxMxbf16>) {
    %r:2 = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %y : tensor<NxMxbf16>, %c = %w : tensor<Mxf32>) -> (tensor<NxMxf32>, tensor<NxMxbf16>) {
      %e = graph.exp %c : tensor<Mxf32>
      %v = graph.broadcast %e to [1] : tensor<Mxf32> -> tensor<NxMxf32>
      %u = graph.cast %b : tensor<NxMxbf16> -> tensor<NxMxf32>
      %p = graph.mul %u, %v : tensor<NxMxf32>
      %s = graph.add %p, %a : tensor<NxMxf32>
      %n = graph.cast %a : tensor<NxMxf32> -> tensor<NxMxbf16>
      graph.yield %s, %n : tensor<NxMxf32>, tensor<NxMxbf16>
    }
    return %r#0, %r#1 : tensor<NxMxf32>, tensor<NxMxbf16>
  })";

} // namespace

TEST_CASE("elements after the last whole access of a row are computed one by one") {
  for (int rows : {1, 3})
    for (int columns : {1, 3, 4, 7, 8, 9, 31, 64, 1029}) {
      INFO(rows << " x " << columns);
      CHECK(worstDifference({.text = sized(kPointwise, rows, columns), .tolerance = 1e-2}) <= 1e-2);
    }
}

TEST_CASE("rows share a block, fill it, stay in registers or are read again") {
  for (auto [rows, columns] :
       {std::pair(5, 1), {5, 3}, {130, 7}, {3, 33}, {2, 515}, {2, 1031}, {1, 16391}}) {
    INFO(rows << " x " << columns);
    CHECK(worstDifference({.text = sized(kSoftmax, rows, columns), .tolerance = 1e-5}) <= 1e-5);
  }
}

TEST_CASE("rows of matrices with a pitch are computed up to their last element") {
  for (int columns : {5, 8, 33})
    CHECK(worstDifference({.text = sized(kSoftmax, 3, columns), .tolerance = 1e-5, .pitch = 8}) <=
          1e-5);
}
