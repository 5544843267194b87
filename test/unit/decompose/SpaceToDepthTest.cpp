// Space to depth: convolutions and both gradients are interpreted before and after the rewrite, and
// the shapes after it are compared.
#include "passes/decompose/SpaceToDepth.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Graph.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

struct Case {
  std::vector<int64_t> input, weight, output; // shapes
  std::vector<int64_t> strides, dilations, padsLow, padsHigh;
  std::vector<int64_t> wideInput, wideWeight; // shapes after the rewrite
};

const std::vector<Case> kCases = {
    // The first layer of a ResNet: windows begin in the middle of a block.
    {{2, 3, 12, 10},
     {4, 3, 7, 7},
     {2, 4, 6, 5},
     {2, 2},
     {1, 1},
     {3, 3},
     {3, 3},
     {2, 16, 9, 8},
     {4, 16, 4, 4}},
    // Patches.
    {{2, 3, 8, 12},
     {5, 3, 4, 4},
     {2, 5, 2, 3},
     {4, 4},
     {1, 1},
     {0, 0},
     {0, 0},
     {2, 48, 2, 3},
     {5, 48, 1, 1}},
    // Sizes that are not multiples of the stride: too few elements, and elements that no window
    // covers.
    {{1, 1, 9, 11},
     {3, 1, 3, 2},
     {1, 3, 5, 4},
     {2, 3},
     {1, 1},
     {1, 0},
     {1, 0},
     {1, 8, 6, 4},
     {3, 8, 2, 1}},
    // A gap between windows.
    {{1, 2, 10}, {3, 2, 1}, {1, 3, 4}, {3}, {1}, {0}, {0}, {1, 8, 4}, {3, 8, 1}},
    // Padding without strides stays in the convolution.
    {{2, 3, 5, 5},
     {4, 3, 3, 3},
     {2, 4, 5, 5},
     {1, 1},
     {1, 1},
     {1, 1},
     {1, 1},
     {2, 8, 5, 5},
     {4, 8, 3, 3}},
    // Dilations, and many channels, keep their strides.
    {{2, 3, 9, 9},
     {4, 3, 3, 3},
     {2, 4, 3, 3},
     {2, 2},
     {2, 2},
     {0, 0},
     {0, 0},
     {2, 8, 9, 9},
     {4, 8, 3, 3}},
    {{2, 12, 6, 6},
     {4, 12, 2, 2},
     {2, 4, 3, 3},
     {2, 2},
     {1, 1},
     {0, 0},
     {0, 0},
     {2, 16, 6, 6},
     {4, 16, 2, 2}},
};

std::string typeOf(const std::vector<int64_t> &shape, const char *element = "bf16") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

std::string listOf(const std::vector<int64_t> &values) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ">";
}

std::string windowOf(const Case &c) {
  return "{strides = " + listOf(c.strides) + ", dilations = " + listOf(c.dilations) +
         ", pads_low = " + listOf(c.padsLow) + ", pads_high = " + listOf(c.padsHigh) +
         ", groups = 1 : i64}";
}

// A function with the op on arguments of these shapes.
std::string textOf(const Case &c, const std::string &op, const std::vector<int64_t> &first,
                   const std::vector<int64_t> &second, const std::vector<int64_t> &result) {
  const std::string a = typeOf(first), b = typeOf(second), y = typeOf(result);
  return "func.func @f(%a: " + a + ", %b: " + b + ") -> " + y + " {\n  %y = graph." + op +
         " %a, %b " + windowOf(c) + " : " + a + ", " + b + " -> " + y + "\n  return %y : " + y +
         "\n}\n";
}

// Sums of products of such numbers are exact, so that their order does not matter.
std::vector<Tensor> quarters(func::FuncOp function) {
  Random random(3);
  std::vector<Tensor> args = randomArguments(function, random, -2, 2);
  for (Tensor &arg : args)
    for (double &value : arg.values)
      value = std::floor(4 * value) / 4;
  return args;
}

// Rewrites the only op of the text, and returns the shapes of its operands and result.
std::vector<std::vector<int64_t>> checkRewrite(const std::string &text) {
  GraphText narrow(text), wide(text);
  CHECK(decompose::applySpaceToDepth(wide.function()) == 1);
  INFO(wide.str());
  const std::vector<Tensor> args = quarters(narrow.function());
  auto expected = interpret::run(narrow.function(), args);
  auto found = interpret::run(wide.function(), args);
  REQUIRE(expected.isOk());
  REQUIRE(found.isOk());
  CHECK(difference((*expected)[0], (*found)[0]) == 0);
  std::vector<std::vector<int64_t>> shapes;
  wide.function().walk([&](Operation *op) {
    if (!isa<graph::ConvOp, graph::ConvInputGradOp, graph::ConvWeightGradOp>(op))
      return;
    for (Value operand : op->getOperands())
      shapes.push_back(graph::staticShapeOf(operand));
    shapes.push_back(graph::staticShapeOf(op->getResult(0)));
  });
  CHECK(decompose::applySpaceToDepth(wide.function()) == 0);
  return shapes;
}

} // namespace

TEST_CASE("convolutions compute the same with strides as channels") {
  using Shapes = std::vector<std::vector<int64_t>>;
  for (const Case &c : kCases) {
    CHECK(checkRewrite(textOf(c, "conv", c.input, c.weight, c.output)) ==
          Shapes{c.wideInput, c.wideWeight, c.output});
    CHECK(checkRewrite(textOf(c, "conv_input_grad", c.output, c.weight, c.input)) ==
          Shapes{c.output, c.wideWeight, c.wideInput});
    CHECK(checkRewrite(textOf(c, "conv_weight_grad", c.output, c.input, c.weight)) ==
          Shapes{c.output, c.wideInput, c.wideWeight});
  }
}

TEST_CASE("other convolutions stay as they are") {
  struct Other {
    int64_t channels, groups;
    const char *element, *mark;
  };
  for (const Other &other : {Other{3, 1, "f32", ""}, Other{8, 1, "bf16", ""},
                             Other{4, 2, "bf16", ""}, Other{3, 1, "bf16", ", graph.direct"}}) {
    const std::string a = typeOf({1, other.channels, 4}, other.element),
                      b = typeOf({2, other.channels / other.groups, 2}, other.element),
                      y = typeOf({1, 2, 2}, other.element);
    GraphText graph(
        "func.func @f(%a: " + a + ", %b: " + b + ") -> " + y +
        " {\n  %y = graph.conv %a, %b {strides = array<i64: 2>, dilations = "
        "array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = " +
        std::to_string(other.groups) + " : i64" + other.mark + "} : " + a + ", " + b + " -> " + y +
        "\n  return %y : " + y + "\n}\n");
    const std::string before = graph.str();
    CHECK(decompose::applySpaceToDepth(graph.function()) == 0);
    CHECK(graph.str() == before);
  }
}
