// Pointwise kernels with transposed operands, which go through tiles of shared memory.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

namespace {

// Three matrices, of which the second is read across its rows, the third only once per row.
const char kTransposed[] =
    R"(func.func @f(%x: tensor<3xNxMxf32>, %y: tensor<3xMxNxT>, %w: tensor<Nxf32>) -> (tensor<3xNxMxf32>, tensor<3xNxMxT>) {
    %r:2 = graph.fusion (%a = %x : tensor<3xNxMxf32>, %b = %y : tensor<3xMxNxT>, %c = %w : tensor<Nxf32>) -> (tensor<3xNxMxf32>, tensor<3xNxMxT>) {
      %t = graph.transpose %b by [0, 2, 1] : tensor<3xMxNxT> -> tensor<3xNxMxT>
      %u = graph.cast %t : tensor<3xNxMxT> -> tensor<3xNxMxf32>
      %v = graph.broadcast %c to [1] : tensor<Nxf32> -> tensor<3xNxMxf32>
      %p = graph.mul %u, %v : tensor<3xNxMxf32>
      %s = graph.add %p, %a : tensor<3xNxMxf32>
      %n = graph.neg %t : tensor<3xNxMxT>
      graph.yield %s, %n : tensor<3xNxMxf32>, tensor<3xNxMxT>
    }
    return %r#0, %r#1 : tensor<3xNxMxf32>, tensor<3xNxMxT>
  })";

} // namespace

TEST_CASE("transposed operands are read in tiles that need not fit the matrix") {
  for (const char *type : {"f32", "bf16"})
    for (int rows : {1, 8, 31, 32, 70})
      for (int columns : {1, 33, 64}) {
        INFO(rows << " x " << columns << " of " << type);
        CHECK(worstDifference({.text = sized(ofType(kTransposed, type), rows, columns)}) <= 2e-6);
      }
}

TEST_CASE("a transposed result may lie in memory of its operand's size only where tiles allow it") {
  CHECK(worstDifference({.text = sized(ofType(kTransposed, "f32"), 33, 40), .inPlace = {{0, 0}}}) <=
        2e-6);
}
