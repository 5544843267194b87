// Kernel groups: every shape of nest against the reference evaluation, at even and odd sizes.
#include "test/unit/codegen/KernelHarness.h"

#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstring>

using cleave::test::KernelCase;
using cleave::test::sized;
using cleave::test::worstDifference;

namespace {

struct Size {
  int rows, columns;
};
const Size kSizes[] = {{4, 64}, {1, 1}, {3, 5}, {7, 257}, {64, 16}, {33, 100}, {5, 1000}};

void checkSizes(KernelCase testCase) {
  std::string text = testCase.text;
  for (Size size : kSizes) {
    testCase.text = sized(text, size.rows, size.columns);
    INFO(size.rows << " x " << size.columns);
    CHECK(worstDifference(testCase) <= testCase.tolerance);
  }
}

const char *kLayerNorm =
    R"(func.func @f(%x: tensor<NxMxf32>, %y: tensor<NxMxf32>, %scale: tensor<Mxf32>, %bias: tensor<Mxf32>)
    -> (tensor<NxMxf32>, tensor<Nxf32>, tensor<NxMxf32>) {
  %r:3 = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %y : tensor<NxMxf32>, %g = %scale : tensor<Mxf32>,
                       %h = %bias : tensor<Mxf32>) -> (tensor<NxMxf32>, tensor<Nxf32>, tensor<NxMxf32>) {
    %z = graph.add %a, %b : tensor<NxMxf32>
    %s = graph.reduce sum %z over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %c = graph.constant dense<0.125> : tensor<f32>
    %cb = graph.broadcast %c to [] : tensor<f32> -> tensor<Nxf32>
    %mean = graph.mul %s, %cb : tensor<Nxf32>
    %mean2 = graph.reshape %mean : tensor<Nxf32> -> tensor<Nx1xf32>
    %mean1 = graph.reshape %mean2 : tensor<Nx1xf32> -> tensor<Nxf32>
    %meanb = graph.broadcast %mean1 to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %z, %meanb : tensor<NxMxf32>
    %dd = graph.mul %d, %d : tensor<NxMxf32>
    %v = graph.reduce sum %dd over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %eps = graph.constant dense<1.0> : tensor<Nxf32>
    %ve = graph.add %v, %eps : tensor<Nxf32>
    %i = graph.rsqrt %ve : tensor<Nxf32>
    %ib = graph.broadcast %i to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %n = graph.mul %d, %ib : tensor<NxMxf32>
    %gb = graph.broadcast %g to [1] : tensor<Mxf32> -> tensor<NxMxf32>
    %hb = graph.broadcast %h to [1] : tensor<Mxf32> -> tensor<NxMxf32>
    %ng = graph.mul %n, %gb : tensor<NxMxf32>
    %o = graph.add %ng, %hb : tensor<NxMxf32>
    graph.yield %o, %i, %z : tensor<NxMxf32>, tensor<Nxf32>, tensor<NxMxf32>
  }
  return %r#0, %r#1, %r#2 : tensor<NxMxf32>, tensor<Nxf32>, tensor<NxMxf32>
})";

// The maximum of a row and the sum of its chosen elements, of 16-bit floats: a row is read once.
const char *kLossSums = R"(func.func @f(%x: tensor<NxMxbf16>, %l: tensor<Nxi64>)
    -> (tensor<Nxf32>, tensor<Nxf32>) {
  %r:2 = graph.fusion (%a = %x : tensor<NxMxbf16>, %k = %l : tensor<Nxi64>)
      -> (tensor<Nxf32>, tensor<Nxf32>) {
    %w = graph.cast %a : tensor<NxMxbf16> -> tensor<NxMxf32>
    %i = graph.iota dim 1 : tensor<NxMxi64>
    %kb = graph.broadcast %k to [0] : tensor<Nxi64> -> tensor<NxMxi64>
    %c = graph.compare ge %i, %kb : tensor<NxMxi64>
    %z = graph.constant dense<0.0> : tensor<NxMxf32>
    %p = graph.select %c, %w, %z : tensor<NxMxi1>, tensor<NxMxf32>
    %s = graph.reduce sum %p over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %m = graph.reduce max %w over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    graph.yield %s, %m : tensor<Nxf32>, tensor<Nxf32>
  }
  return %r#0, %r#1 : tensor<Nxf32>, tensor<Nxf32>
})";

} // namespace

TEST_CASE("a pointwise group with broadcasts computes what its ops mean") {
  checkSizes({R"(func.func @f(%x: tensor<NxMxf32>, %y: tensor<Mxf32>) -> tensor<NxMxf32> {
    %r = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %y : tensor<Mxf32>) -> (tensor<NxMxf32>) {
      %bb = graph.broadcast %b to [1] : tensor<Mxf32> -> tensor<NxMxf32>
      %s = graph.add %a, %bb : tensor<NxMxf32>
      %h = graph.constant dense<0.70710678> : tensor<f32>
      %hb = graph.broadcast %h to [] : tensor<f32> -> tensor<NxMxf32>
      %t = graph.mul %s, %hb : tensor<NxMxf32>
      %e = graph.erf %t : tensor<NxMxf32>
      %o = graph.constant dense<1.0> : tensor<NxMxf32>
      %p = graph.add %e, %o : tensor<NxMxf32>
      %q = graph.mul %p, %s : tensor<NxMxf32>
      graph.yield %q : tensor<NxMxf32>
    }
    return %r : tensor<NxMxf32>
  })"});
}

TEST_CASE("negative numbers have whole powers") {
  KernelCase powers{R"(func.func @f(%x: tensor<NxMxf32>, %y: tensor<NxMxf32>) -> tensor<NxMxf32> {
    %r = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %y : tensor<NxMxf32>) -> (tensor<NxMxf32>) {
      %w = graph.round %b : tensor<NxMxf32>
      %p = graph.pow %a, %w : tensor<NxMxf32>
      graph.yield %p : tensor<NxMxf32>
    }
    return %r : tensor<NxMxf32>
  })"};
  powers.tolerance = 1e-4; // by exponential and logarithm
  powers.low = -4, powers.high = 4;
  checkSizes(powers);
}

TEST_CASE("softmax is one kernel, in place too") {
  checkSizes({.text = cleave::test::kSoftmax});
  checkSizes({.text = cleave::test::kSoftmax, .inPlace = {{0, 0}}});
}

TEST_CASE("layer norm with a residual sum and saved statistics is one kernel, in place too") {
  checkSizes({.text = kLayerNorm, .tolerance = 2e-5});
  checkSizes({.text = kLayerNorm, .inPlace = {{0, 0}}, .tolerance = 2e-5});
  checkSizes({.text = kLayerNorm, .inPlace = {{0, 1}, {2, 0}}, .tolerance = 2e-5});
}

TEST_CASE("a result of each row is written in place of an operand that all of the row reads") {
  checkSizes({.text = R"(func.func @f(%s: tensor<Nxf32>, %x: tensor<NxMxf32>)
      -> (tensor<Nxf32>, tensor<NxMxf32>) {
    %r:2 = graph.fusion (%a = %s : tensor<Nxf32>, %b = %x : tensor<NxMxf32>)
        -> (tensor<Nxf32>, tensor<NxMxf32>) {
      %t = graph.reduce sum %b over [1] : tensor<NxMxf32> -> tensor<Nxf32>
      %tb = graph.broadcast %t to [0] : tensor<Nxf32> -> tensor<NxMxf32>
      %ab = graph.broadcast %a to [0] : tensor<Nxf32> -> tensor<NxMxf32>
      %p = graph.mul %b, %ab : tensor<NxMxf32>
      %q = graph.add %p, %tb : tensor<NxMxf32>
      %n = graph.add %a, %t : tensor<Nxf32>
      graph.yield %n, %q : tensor<Nxf32>, tensor<NxMxf32>
    }
    return %r#0, %r#1 : tensor<Nxf32>, tensor<NxMxf32>
  })",
              .inPlace = {{0, 0}},
              .tolerance = 2e-5});
}

TEST_CASE("masked softmax takes minus infinity and counts rows and columns") {
  checkSizes({R"(func.func @f(%x: tensor<2xNxMxf32>) -> tensor<2xNxMxf32> {
    %r = graph.fusion (%a = %x : tensor<2xNxMxf32>) -> (tensor<2xNxMxf32>) {
      %i = graph.iota dim 1 : tensor<2xNxMxi32>
      %j = graph.iota dim 2 : tensor<2xNxMxi32>
      %c = graph.compare ge %i, %j : tensor<2xNxMxi32>
      %inf = graph.constant dense<0xFF800000> : tensor<2xNxMxf32>
      %k = graph.select %c, %a, %inf : tensor<2xNxMxi1>, tensor<2xNxMxf32>
      %m = graph.reduce max %k over [2] : tensor<2xNxMxf32> -> tensor<2xNxf32>
      %mb = graph.broadcast %m to [0, 1] : tensor<2xNxf32> -> tensor<2xNxMxf32>
      %d = graph.sub %k, %mb : tensor<2xNxMxf32>
      %e = graph.exp %d : tensor<2xNxMxf32>
      %s = graph.reduce sum %e over [2] : tensor<2xNxMxf32> -> tensor<2xNxf32>
      %sb = graph.broadcast %s to [0, 1] : tensor<2xNxf32> -> tensor<2xNxMxf32>
      %q = graph.div %e, %sb : tensor<2xNxMxf32>
      graph.yield %q : tensor<2xNxMxf32>
    }
    return %r : tensor<2xNxMxf32>
  })"});
}

TEST_CASE("sums over rows run over columns in parallel") {
  checkSizes(
      {.text =
           R"(func.func @f(%x: tensor<2xNxMxf32>, %y: tensor<2xNxMxf32>) -> (tensor<Mxf32>, tensor<Mxf32>) {
    %r:2 = graph.fusion (%a = %x : tensor<2xNxMxf32>, %b = %y : tensor<2xNxMxf32>) -> (tensor<Mxf32>, tensor<Mxf32>) {
      %p = graph.mul %a, %b : tensor<2xNxMxf32>
      %s = graph.reduce sum %p over [0, 1] : tensor<2xNxMxf32> -> tensor<Mxf32>
      %t = graph.reduce max %a over [0, 1] : tensor<2xNxMxf32> -> tensor<Mxf32>
      graph.yield %s, %t : tensor<Mxf32>, tensor<Mxf32>
    }
    return %r#0, %r#1 : tensor<Mxf32>, tensor<Mxf32>
  })",
       .tolerance = 1e-5});
}

TEST_CASE("sums over a middle dim and over outer and inner dims") {
  checkSizes({.text = R"(func.func @f(%x: tensor<3xNxMxf32>) -> tensor<3xMxf32> {
    %r = graph.fusion (%a = %x : tensor<3xNxMxf32>) -> (tensor<3xMxf32>) {
      %s = graph.reduce sum %a over [1] : tensor<3xNxMxf32> -> tensor<3xMxf32>
      graph.yield %s : tensor<3xMxf32>
    }
    return %r : tensor<3xMxf32>
  })",
              .tolerance = 1e-5});
  checkSizes({.text = R"(func.func @f(%x: tensor<3xNxMxf32>) -> tensor<Nxf32> {
    %r = graph.fusion (%a = %x : tensor<3xNxMxf32>) -> (tensor<Nxf32>) {
      %s = graph.reduce sum %a over [0, 2] : tensor<3xNxMxf32> -> tensor<Nxf32>
      graph.yield %s : tensor<Nxf32>
    }
    return %r : tensor<Nxf32>
  })",
              .tolerance = 1e-5});
}

TEST_CASE("a whole tensor is reduced to one number") {
  checkSizes({.text = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<f32> {
    %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<f32>) {
      %q = graph.mul %a, %a : tensor<NxMxf32>
      %s = graph.reduce sum %q over [0, 1] : tensor<NxMxf32> -> tensor<f32>
      graph.yield %s : tensor<f32>
    }
    return %r : tensor<f32>
  })",
              .tolerance = 1e-5});
}

const char *const kOptimizerStep =
    R"(func.func @f(%p: tensor<NxMxf32>, %g: tensor<NxMxf32>, %m: tensor<NxMxf32>, %t: tensor<f32>)
      -> (tensor<NxMxf32>, tensor<NxMxf32>) {
    %r:2 = graph.fusion (%pp = %p : tensor<NxMxf32>, %gg = %g : tensor<NxMxf32>, %mm = %m : tensor<NxMxf32>,
                         %tt = %t : tensor<f32>) -> (tensor<NxMxf32>, tensor<NxMxf32>) {
      %b = graph.constant dense<0.9> : tensor<f32>
      %bt = graph.pow %b, %tt : tensor<f32>
      %one = graph.constant dense<1.0> : tensor<f32>
      %c = graph.sub %one, %bt : tensor<f32>
      %cb = graph.broadcast %c to [] : tensor<f32> -> tensor<NxMxf32>
      %bb = graph.constant dense<0.9> : tensor<NxMxf32>
      %k = graph.constant dense<0.1> : tensor<NxMxf32>
      %m1 = graph.mul %mm, %bb : tensor<NxMxf32>
      %m2 = graph.mul %gg, %k : tensor<NxMxf32>
      %m3 = graph.add %m1, %m2 : tensor<NxMxf32>
      %two = graph.constant dense<2.0> : tensor<NxMxf32>
      %sq = graph.pow %m3, %two : tensor<NxMxf32>
      %u = graph.sub %sq, %cb : tensor<NxMxf32>
      %p1 = graph.sub %pp, %u : tensor<NxMxf32>
      graph.yield %p1, %m3 : tensor<NxMxf32>, tensor<NxMxf32>
    }
    return %r#0, %r#1 : tensor<NxMxf32>, tensor<NxMxf32>
  })";

TEST_CASE("an optimizer step writes several tensors in place") {
  checkSizes({.text = kOptimizerStep, .inPlace = {{0, 0}, {1, 2}}});
}

// The columns after the last whole access of a row are read and written on their own.
TEST_CASE("rows with a pitch are computed up to their last element, in place too") {
  checkSizes({.text = kOptimizerStep, .inPlace = {{0, 0}, {1, 2}}, .pitch = 8});
  checkSizes({.text = cleave::test::kSoftmax, .inPlace = {{0, 0}}, .pitch = 8});
  checkSizes({.text = kLayerNorm, .inPlace = {{0, 1}, {2, 0}}, .tolerance = 2e-5, .pitch = 16});
  checkSizes({.text = kLossSums, .tolerance = 1e-4, .pitch = 8});
  // A row that is longer than the registers of its threads.
  for (int64_t pitch : {1, 8})
    CHECK(worstDifference({.text = sized(kLossSums, 2, 9001),
                           .tolerance = 1e-4,
                           .low = -2,
                           .high = 2,
                           .pitch = pitch}) <= 1e-4);
}

TEST_CASE("scalars, truth values, integers and doubles") {
  CHECK(worstDifference({.text = R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
    %r = graph.fusion (%a = %x : tensor<f32>) -> (tensor<f32>) {
      %one = graph.constant dense<1.0> : tensor<f32>
      %s = graph.add %a, %one : tensor<f32>
      graph.yield %s : tensor<f32>
    }
    return %r : tensor<f32>
  })",
                         .inPlace = {{0, 0}}}) <= 1e-6);
  checkSizes({R"(func.func @f(%x: tensor<NxMxi1>, %i: tensor<NxMxi64>, %d: tensor<NxMxf64>)
      -> (tensor<NxMxi1>, tensor<NxMxf64>, tensor<Nxi64>) {
    %r:3 = graph.fusion (%a = %x : tensor<NxMxi1>, %b = %i : tensor<NxMxi64>, %c = %d : tensor<NxMxf64>)
        -> (tensor<NxMxi1>, tensor<NxMxf64>, tensor<Nxi64>) {
      %n = graph.not %a : tensor<NxMxi1>
      %e = graph.exp %c : tensor<NxMxf64>
      %z = graph.constant dense<0.5> : tensor<NxMxf64>
      %s = graph.select %a, %e, %z : tensor<NxMxi1>, tensor<NxMxf64>
      %t = graph.reduce sum %b over [1] : tensor<NxMxi64> -> tensor<Nxi64>
      graph.yield %n, %s, %t : tensor<NxMxi1>, tensor<NxMxf64>, tensor<Nxi64>
    }
    return %r#0, %r#1, %r#2 : tensor<NxMxi1>, tensor<NxMxf64>, tensor<Nxi64>
  })"});
}

TEST_CASE("a transposed group walks both layouts") {
  checkSizes({R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<MxNxf32> {
    %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<MxNxf32>) {
      %t = graph.transpose %a by [1, 0] : tensor<NxMxf32> -> tensor<MxNxf32>
      %e = graph.neg %t : tensor<MxNxf32>
      graph.yield %e : tensor<MxNxf32>
    }
    return %r : tensor<MxNxf32>
  })"});
}

TEST_CASE("a result with all rows beside sums over the rows is written at every row") {
  checkSizes({.text = R"(func.func @f(%x: tensor<NxMxf32>) -> (tensor<NxMxf32>, tensor<Mxf32>) {
    %r:2 = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<NxMxf32>, tensor<Mxf32>) {
      %d = graph.mul %a, %a : tensor<NxMxf32>
      %s = graph.reduce sum %d over [0] : tensor<NxMxf32> -> tensor<Mxf32>
      graph.yield %d, %s : tensor<NxMxf32>, tensor<Mxf32>
    }
    return %r#0, %r#1 : tensor<NxMxf32>, tensor<Mxf32>
  })",
              .tolerance = 1e-5});
}

TEST_CASE("a cast to a shorter float and back rounds") {
  for (const char *type : {"f16", "bf16"}) {
    std::string text = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<NxMxf32> {
      %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<NxMxf32>) {
        %s = graph.cast %a : tensor<NxMxf32> -> tensor<NxMxTYPE>
        %w = graph.cast %s : tensor<NxMxTYPE> -> tensor<NxMxf32>
        graph.yield %w : tensor<NxMxf32>
      }
      return %r : tensor<NxMxf32>
    })";
    for (size_t at = 0; (at = text.find("TYPE")) != std::string::npos;)
      text.replace(at, 4, type);
    checkSizes({text, {}, 0});
  }
}

// 256 + 1 + 1 is 258 in f32, and 256 where every sum is rounded to bf16.
TEST_CASE("16-bit floats are not rounded inside a kernel, and a stored value is read as stored") {
  std::string text = R"(func.func @f(%x: tensor<8xbf16>) -> (tensor<8xf32>RESULT) {
    %r:COUNT = graph.fusion (%a = %x : tensor<8xbf16>) -> (tensor<8xf32>RESULT) {
      %one = graph.constant dense<1.0> : tensor<8xbf16>
      %t = graph.add %a, %one : tensor<8xbf16>
      %u = graph.add %t, %one : tensor<8xbf16>
      %w = graph.cast %u : tensor<8xbf16> -> tensor<8xf32>
      graph.yield %wYIELDED : tensor<8xf32>RESULT
    }
    return %r#0RETURNED : tensor<8xf32>RESULT
  })";
  for (bool isStored : {false, true}) {
    std::string filled = text;
    for (auto [mark, with] : {std::pair("RESULT", ", tensor<8xbf16>"), std::pair("COUNT", "2"),
                              std::pair("YIELDED", ", %t"), std::pair("RETURNED", ", %r#1")})
      for (size_t at = 0; (at = filled.find(mark)) != std::string::npos;)
        filled.replace(at, std::strlen(mark),
                       isStored                       ? with
                       : std::string(mark) == "COUNT" ? "1"
                                                      : "");
    auto kernel = cleave::test::CompiledKernel::compile({filled});
    REQUIRE(kernel);
    alignas(64) uint16_t x[32], stored[32] = {};
    alignas(64) float wide[32] = {};
    std::fill(x, x + 32, cleave::toBF16(256));
    void *buffers[] = {x, wide, stored};
    kernel->run(buffers, 0, kernel->extent());
    CHECK(wide[7] == (isStored ? 257 : 258)); // 257 is stored as 256
    CHECK(stored[7] == (isStored ? cleave::toBF16(256) : 0));
  }
}

TEST_CASE("the largest integer of 64 bits is a constant of kernels") {
  checkSizes({R"(func.func @f(%x: tensor<NxMxi64>) -> tensor<NxMxi64> {
    %r = graph.fusion (%a = %x : tensor<NxMxi64>) -> (tensor<NxMxi64>) {
      %c = graph.constant dense<9223372036854775807> : tensor<i64>
      %l = graph.broadcast %c to [] : tensor<i64> -> tensor<NxMxi64>
      %m = graph.min %a, %l : tensor<NxMxi64>
      graph.yield %m : tensor<NxMxi64>
    }
    return %r : tensor<NxMxi64>
  })"});
}
