// Direct convolutions and their gradients: strides, dilation, padding, groups, one to four spatial
// dims, and types.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using cleave::test::worstDifference;

namespace {

// The tensors of a convolution, and its window; of a 16-bit `element`, `sum` may be f32.
struct Case {
  std::string data, weight, out; // `2x4x9x8x`
  std::string strides, dilations, padsLow, padsHigh;
  int groups = 1;
  std::string element = "f32", sum = "f32";
};

enum class Kind { Forward, InputGradient, WeightGradient };

std::string textOf(const Case &c, Kind kind) {
  auto tensor = [](const std::string &shape, const std::string &element) {
    return "tensor<" + shape + element + ">";
  };
  const bool isForward = kind == Kind::Forward, isInput = kind == Kind::InputGradient;
  const std::string data = tensor(c.data, isInput ? c.sum : c.element),
                    weight = tensor(c.weight, kind == Kind::WeightGradient ? c.sum : c.element),
                    out = tensor(c.out, isForward ? c.sum : c.element);
  const std::string &first = isForward ? data : out, &second = isForward || isInput ? weight : data,
                    &result = isForward ? out
                              : isInput ? data
                                        : weight;
  const std::string name = isForward ? "conv" : isInput ? "conv_input_grad" : "conv_weight_grad";
  auto list = [](const std::string &name, const std::string &values) {
    return name + " = array<i64: " + values + ">, ";
  };
  return "func.func @f(%a: " + first + ", %b: " + second + ") -> " + result + " { %r = graph." +
         name + " %a, %b {" + list("strides", c.strides) + list("dilations", c.dilations) +
         list("pads_low", c.padsLow) + list("pads_high", c.padsHigh) +
         "groups = " + std::to_string(c.groups) + " : i64, graph.direct} : " + first + ", " +
         second + " -> " + result + " return %r : " + result + " }";
}

void check(const Case &c, double tolerance = 1e-5) {
  for (Kind kind : {Kind::Forward, Kind::InputGradient, Kind::WeightGradient}) {
    INFO(textOf(c, kind));
    CHECK(worstDifference({.text = textOf(c, kind), .tolerance = tolerance}) <= tolerance);
  }
}

} // namespace

TEST_CASE("direct convolutions with strides, dilation, uneven and negative padding") {
  check({"2x3x9x8x", "4x3x3x2x", "2x4x5x7x", "2, 1", "1, 2", "1, 0", "1, 1"});
  check({"2x3x8x8x", "5x3x3x3x", "2x5x6x6x", "1, 1", "1, 1", "-1, 0", "1, 0"});
  check({"1x2x5x", "3x2x3x", "1x3x3x", "2", "1", "1", "1"});
}

TEST_CASE("direct convolutions in groups, and in four spatial dims") {
  check({"2x6x6x5x", "4x3x3x3x", "2x4x6x5x", "1, 1", "1, 1", "1, 1", "1, 1", 2});
  check({"2x4x6x5x", "4x1x3x3x", "2x4x3x3x", "2, 2", "1, 1", "1, 1", "1, 1", 4});
  check({"1x2x3x4x3x2x", "2x2x2x2x2x2x", "1x2x2x3x2x1x", "1, 1, 1, 1", "1, 1, 1, 1", "0, 0, 0, 0",
         "0, 0, 0, 0"});
}

TEST_CASE("direct convolutions without samples, and with windows in the padding only") {
  check({"0x2x5x", "3x2x3x", "0x3x3x", "2", "1", "1", "1"});
  check({"1x2x1x", "3x2x2x", "1x3x4x", "2", "1", "4", "3"});
}

TEST_CASE("direct convolutions in double precision and in 16 bits") {
  Case c{"2x3x9x8x", "4x3x3x2x", "2x4x5x7x", "2, 1", "1, 2", "1, 0", "1, 1"};
  c.element = c.sum = "f64";
  check(c, 1e-12);
  for (const char *element : {"bf16", "f16"}) {
    c.element = element, c.sum = "f32";
    check(c);
    c.sum = element;
    check(c, 8e-3);
  }
}
