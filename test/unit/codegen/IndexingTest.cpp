// Kernels outside of groups: gather, scatter, scan, sort and pooling.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using cleave::test::worstDifference;

// A function of one op from `operands` to `result`.
static std::string oneOp(const std::string &operands, const std::string &op,
                         const std::string &result) {
  return "func.func @f(" + operands + ") -> " + result + " { %r = " + op +
         " return %r : " + result + " }";
}

TEST_CASE("gather gives zero rows for indices out of range") {
  CHECK(worstDifference({.text = oneOp("%x: tensor<5x7xf32>, %i: tensor<2x9xi64>",
                                       "graph.gather %x at %i dim 0 : tensor<5x7xf32>, "
                                       "tensor<2x9xi64> -> tensor<2x9x7xf32>",
                                       "tensor<2x9x7xf32>"),
                         .tolerance = 0,
                         .low = -3,
                         .high = 9}) == 0);
  CHECK(worstDifference({.text = oneOp("%x: tensor<3x5x2xf32>, %i: tensor<4xi32>",
                                       "graph.gather %x at %i dim 1 : tensor<3x5x2xf32>, "
                                       "tensor<4xi32> -> tensor<3x4x2xf32>",
                                       "tensor<3x4x2xf32>"),
                         .tolerance = 0,
                         .low = -3,
                         .high = 9}) == 0);
}

TEST_CASE("scatter sums rows of equal index and drops those out of range") {
  CHECK(worstDifference({.text = oneOp("%x: tensor<2x9x7xf32>, %i: tensor<2x9xi64>",
                                       "graph.scatter sum %x at %i dim 0 : tensor<2x9x7xf32>, "
                                       "tensor<2x9xi64> -> tensor<5x7xf32>",
                                       "tensor<5x7xf32>"),
                         .tolerance = 1e-6,
                         .low = -2,
                         .high = 7}) <= 1e-6);
  CHECK(worstDifference({.text = oneOp("%x: tensor<3x4x2xf32>, %i: tensor<4xi64>",
                                       "graph.scatter sum %x at %i dim 1 : tensor<3x4x2xf32>, "
                                       "tensor<4xi64> -> tensor<3x5x2xf32>",
                                       "tensor<3x5x2xf32>"),
                         .tolerance = 1e-6,
                         .low = -2,
                         .high = 7}) <= 1e-6);
}

TEST_CASE("gather and scatter in batches, and every way to combine") {
  const std::string table = "tensor<3x2x5x4xf32>", indices = "tensor<3x6xi64>",
                    rows = "tensor<3x2x6x4xf32>", lines = "tensor<6x7x5xf32>",
                    places = "tensor<6x7x9xui8>", chosen = "tensor<6x7x9xf32>";
  CHECK(worstDifference({.text = oneOp("%t: " + table + ", %i: " + indices,
                                       "graph.gather %t at %i dim 2 {batch = 1 : i64} : " + table +
                                           ", " + indices + " -> " + rows,
                                       rows),
                         .tolerance = 0,
                         .low = -2,
                         .high = 7}) == 0);
  CHECK(worstDifference({.text = oneOp("%t: " + lines + ", %i: " + places,
                                       "graph.gather %t at %i dim 2 {batch = 2 : i64} : " + lines +
                                           ", " + places + " -> " + chosen,
                                       chosen),
                         .tolerance = 0,
                         .low = 0,
                         .high = 7}) == 0);
  for (const char *kind : {"sum", "max", "min", "prod"}) {
    CHECK(worstDifference({.text = oneOp("%u: " + rows + ", %i: " + indices,
                                         std::string("graph.scatter ") + kind +
                                             " %u at %i dim 2 {batch = 1 : i64} : " + rows + ", " +
                                             indices + " -> " + table,
                                         table),
                           .tolerance = 1e-6,
                           .low = -2,
                           .high = 7}) <= 1e-6);
    CHECK(worstDifference({.text = oneOp("%u: " + chosen + ", %i: " + places,
                                         std::string("graph.scatter ") + kind +
                                             " %u at %i dim 2 {batch = 2 : i64} : " + chosen +
                                             ", " + places + " -> " + lines,
                                         lines),
                           .tolerance = 1e-6,
                           .low = 0,
                           .high = 7}) <= 1e-6);
  }
}

// Many indices in few rows, of rows of vectors and of odd length.
TEST_CASE("a scatter adds many updates to a row in their order") {
  for (const std::string inner : {"1", "7", "12", "1030"})
    for (const std::string kind : {"sum", "max"}) {
      INFO(kind << " of rows of " << inner);
      const std::string updates = "tensor<2x300x" + inner + "xf32>",
                        table = "tensor<2x9x" + inner + "xf32>";
      CHECK(worstDifference({.text = oneOp("%u: " + updates + ", %i: tensor<2x300xi64>",
                                           "graph.scatter " + kind +
                                               " %u at %i dim 1 {batch = 1 : i64} : " + updates +
                                               ", tensor<2x300xi64> -> " + table,
                                           table),
                             .tolerance = 1e-5,
                             .low = -2,
                             .high = 12}) <= 1e-5);
    }
  for (const std::string type : {"bf16", "i32", "f64"})
    CHECK(
        worstDifference({.text = oneOp("%u: tensor<259x16x" + type + ">, %i: tensor<259xi32>",
                                       "graph.scatter max %u at %i dim 0 : tensor<259x16x" + type +
                                           ">, tensor<259xi32> -> tensor<2000x16x" + type + ">",
                                       "tensor<2000x16x" + type + ">"),
                         .tolerance = 0,
                         .low = -2,
                         .high = 2100}) == 0);
}

TEST_CASE("scans and sorting along every dim") {
  for (const std::string element : {"f32", "f16", "i32", "ui8", "i64"})
    for (const std::string shape : {"3x17x4x", "1x1x1x", "2x64x1x"}) {
      std::string type = "tensor<" + shape + element + ">", order = "tensor<" + shape + "i64>";
      for (const char *dim : {"0", "1", "2"}) {
        INFO(type << " along " << dim);
        for (const char *kind : {"sum", "max", "min"})
          CHECK(worstDifference(
                    {.text = oneOp(
                         "%x: " + type,
                         std::string("graph.scan ") + kind + " %x dim " + dim + " : " + type, type),
                     .tolerance = 2e-3,
                     .low = 0,
                     .high = 9}) <= 2e-3);
        for (const char *flag : {"", " {descending}"})
          CHECK(
              worstDifference({.text = "func.func @f(%x: " + type + ") -> (" + type + ", " + order +
                                       ") { %r:2 = graph.sort %x dim " + dim + flag + " : " + type +
                                       " return %r#0, %r#1 : " + type + ", " + order + " }",
                               .tolerance = 0,
                               .low = 0,
                               .high = 9}) == 0);
      }
    }
}

struct PoolCase {
  std::string kernel, strides, dilations, padsLow, padsHigh, in, out;
};
static const PoolCase kDilated = {"3, 2", "2, 1", "1, 2", "1, 0", "1, 1", "7x6", "4x5"};

static std::string pool(const std::string &kind, const std::string &attributes, bool gradient,
                        const PoolCase &sizes = kDilated) {
  std::string window =
      "{kernel = array<i64: " + sizes.kernel + ">, strides = array<i64: " + sizes.strides +
      ">, dilations = array<i64: " + sizes.dilations + ">, pads_low = array<i64: " + sizes.padsLow +
      ">, pads_high = array<i64: " + sizes.padsHigh + ">" + attributes + "}";
  std::string in = "tensor<2x3x" + sizes.in + "xf32>", out = "tensor<2x3x" + sizes.out + "xf32>";
  if (!gradient)
    return "func.func @f(%x: " + in + ") -> " + out + " { %r = graph.pool " + kind + " %x " +
           window + " : " + in + " -> " + out + " return %r : " + out + " }";
  return "func.func @f(%g: " + out + ", %x: " + in + ") -> " + in + " { %r = graph.pool_grad " +
         kind + " %g, %x " + window + " : " + out + ", " + in + " -> " + in + " return %r : " + in +
         " }";
}

TEST_CASE("pooling and its gradient, with padding, strides and dilation") {
  for (bool gradient : {false, true}) {
    CHECK(worstDifference({.text = pool("max", "", gradient), .tolerance = 1e-6}) <= 1e-6);
    CHECK(worstDifference({.text = pool("average", "", gradient), .tolerance = 1e-6}) <= 1e-6);
    CHECK(worstDifference(
              {.text = pool("average", ", count_padding", gradient), .tolerance = 1e-6}) <= 1e-6);
  }
}

TEST_CASE("gradients of pools whose windows overlap, leave gaps, crop, or are many") {
  const PoolCase cases[] = {{"3, 3", "2, 2", "1, 1", "1, 1", "1, 1", "8x9", "4x5"},
                            {"2, 2", "3, 3", "1, 1", "0, 0", "0, 0", "8x9", "3x3"},
                            {"3, 2", "1, 2", "2, 3", "2, 4", "2, 0", "6x7", "6x4"},
                            {"2, 2", "2, 2", "1, 1", "-3, -1", "0, 0", "9x9", "3x4"},
                            {"2, 2", "1, 1", "1, 1", "0, 0", "0, 0", "92x92", "91x91"}};
  for (const PoolCase &sizes : cases)
    for (const char *kind : {"max", "average"}) {
      INFO(kind << " of " << sizes.in << " by " << sizes.kernel << " at " << sizes.padsLow);
      CHECK(worstDifference({.text = pool(kind, "", true, sizes), .tolerance = 1e-6}) <= 1e-6);
    }
}
