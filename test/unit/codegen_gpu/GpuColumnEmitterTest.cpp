// Kernels that reduce the rows of a group's columns: slices of a block take turns at the rows.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

namespace {

// Sum and maximum of the columns of two matrices of N rows of M.
const char kSumAndMaximum[] =
    R"(func.func @f(%x: tensor<2xNxMxT>, %y: tensor<2xNxMxT>) -> (tensor<2xMxT>, tensor<2xMxT>) {
    %r:2 = graph.fusion (%a = %x : tensor<2xNxMxT>, %b = %y : tensor<2xNxMxT>) -> (tensor<2xMxT>, tensor<2xMxT>) {
      %p = graph.mul %a, %b : tensor<2xNxMxT>
      %s = graph.reduce sum %p over [1] : tensor<2xNxMxT> -> tensor<2xMxT>
      %t = graph.reduce max %a over [1] : tensor<2xNxMxT> -> tensor<2xMxT>
      graph.yield %s, %t : tensor<2xMxT>, tensor<2xMxT>
    }
    return %r#0, %r#1 : tensor<2xMxT>, tensor<2xMxT>
  })";

} // namespace

TEST_CASE("columns are summed whether or not slices share the rows and lanes the columns evenly") {
  for (const char *type : {"f32", "bf16"})
    for (int rows : {1, 2, 31, 33, 515})
      for (int columns : {1, 5, 32, 33, 264}) {
        INFO(rows << " x " << columns << " of " << type);
        const double tolerance = type == std::string("bf16") ? 1e-2 : 1e-5;
        CHECK(worstDifference({.text = sized(ofType(kSumAndMaximum, type), rows, columns),
                               .tolerance = tolerance,
                               .low = 0}) <= tolerance);
      }
}
