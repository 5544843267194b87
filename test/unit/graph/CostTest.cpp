// The work that ops state.
#include "dialects/graph/Cost.h"

#include "dialects/graph/Direct.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

namespace {

// A function of one op.
class OneOp {
public:
  OneOp(const std::string &args, const std::string &op, const std::string &result)
      : text_("func.func @f(" + args + ") -> " + result + " {\n  %y = " + op +
              "\n  return %y : " + result + "\n}") {}
  mlir::Operation *operator*() { return &text_.function().getBody().front().front(); }

private:
  GraphText text_;
};

OneOp product(const std::string &type) {
  const std::string lhs = "tensor<2x4x" + type + ">", rhs = "tensor<4x3x" + type + ">",
                    result = "tensor<2x3x" + type + ">";
  return {"%x: " + lhs + ", %w: " + rhs,
          "graph.dot_general %x, %w batch [] x [] contract [1] x [0] : " + lhs + ", " + rhs +
              " -> " + result,
          result};
}

// In two groups, which the library lowers.
OneOp convolution() {
  return {"%x: tensor<2x4x8xf32>, %w: tensor<4x2x3xf32>",
          "graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, "
          "pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 2 : i64} "
          ": tensor<2x4x8xf32>, tensor<4x2x3xf32> -> tensor<2x4x8xf32>",
          "tensor<2x4x8xf32>"};
}

} // namespace

TEST_CASE("a product computes in the type of its factors, all else in f32") {
  for (const auto &[type, computes] :
       {std::pair("bf16", "bf16"), {"f32", "f32"}, {"f64", "f64"}, {"f16", "f16"}}) {
    OneOp op = product(type);
    const KernelWork work = graph::workOf(*op);
    CHECK((work.isProduct && !work.isAttention && !work.library));
    CHECK(work.elementType == computes);
    CHECK(work.flops == 2 * 2 * 4 * 3);
  }
  OneOp sine("%x: tensor<2x4xbf16>", "graph.exp %x : tensor<2x4xbf16>", "tensor<2x4xbf16>");
  const KernelWork work = graph::workOf(*sine);
  CHECK_FALSE(work.isProduct);
  CHECK(work.elementType == "f32");
  CHECK(work.bytes == 2 * 2 * 4 * 2);
}

TEST_CASE("random numbers and functions are costly, square roots are not") {
  OneOp random("%c: tensor<4xi64>, %k: tensor<4xi64>",
               "graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>", "tensor<4xf32>");
  OneOp sine("%x: tensor<4xf32>", "graph.sin %x : tensor<4xf32>", "tensor<4xf32>");
  OneOp root("%x: tensor<4xf32>", "graph.sqrt %x : tensor<4xf32>", "tensor<4xf32>");
  CHECK(graph::isCostly(*random));
  CHECK(graph::isCostly(*sine));
  CHECK_FALSE(graph::isCostly(*root));
}

TEST_CASE("a lookup reads no more of its table than it writes") {
  OneOp op("%t: tensor<64x8xf32>, %i: tensor<5xi64>",
           "graph.gather %t at %i dim 0 : tensor<64x8xf32>, tensor<5xi64> -> tensor<5x8xf32>",
           "tensor<5x8xf32>");
  CHECK(graph::workOf(*op).bytes == 2 * 5 * 8 * 4 + 5 * 8);
}

TEST_CASE("a convolution is lowered by a library, and in a kernel of its own computes directly") {
  OneOp op = convolution();
  const KernelWork library = graph::workOf(*op);
  CHECK(library.isProduct);
  CHECK(library.columns == 2 * 8 * 2 * 6); // 6 weights per place and group of 2 images
  CHECK(library.directResults == 0);
  graph::markDirect(*op);
  const KernelWork direct = graph::workOf(*op);
  CHECK_FALSE(direct.isProduct);
  CHECK(direct.columns == 0);
  CHECK(direct.directResults == 2 * 4 * 8);
  CHECK(direct.flops == library.flops);
}

TEST_CASE("a grouped product states its rows, inputs, outputs and groups") {
  OneOp op("%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %ends: tensor<3xi32>",
           "graph.grouped_matmul %x, %w, %ends "
           ": tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>",
           "tensor<6x8xf32>");
  const GroupedSizes sizes = graph::workOf(*op).grouped;
  CHECK((sizes.rows == 6 && sizes.inputs == 4 && sizes.outputs == 8));
  CHECK((sizes.groups == 3 && sizes.wholeGroups == 3 && !sizes.isWeightGradient));
}

TEST_CASE("attention in 16 bits is a library's of GPUs, in f32 it is not") {
  for (const bool isShort : {true, false}) {
    const std::string type = isShort ? "bf16" : "f32", heads = "tensor<2x4x16x8x" + type + ">",
                      types = "(" + heads + ", " + heads + ", " + heads + ") -> (" + heads +
                              ", tensor<2x4x16xf32>)";
    GraphText text("func.func @f(%q: " + heads + ", %k: " + heads + ", %v: " + heads + ") -> " +
                   heads + " {\n  %y, %lse = graph.attention %q, %k, %v {scale = 0.35 : f64} : " +
                   types + "\n  return %y : " + heads + "\n}");
    const KernelWork work = graph::workOf(&text.function().getBody().front().front());
    CHECK((work.isProduct && work.isAttention));
    CHECK(work.elementType == type);
    REQUIRE(work.library.has_value() == isShort);
    if (isShort)
      CHECK((work.library->sizes.queries == 16 && !work.library->isGradient));
  }
}
