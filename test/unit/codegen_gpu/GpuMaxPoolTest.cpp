// Pooling and its gradient on channels-last tensors, compared with the ops' evaluation.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using cleave::test::worstDifference;

namespace {

// Windows over two samples of one size.
struct Pooling {
  std::string kernel, strides, dilations, padsLow, padsHigh, in, out;
};

std::string poolText(const std::string &kind, bool isGradient, const Pooling &c, int channels,
                     const std::string &type) {
  const std::string begin = "tensor<2x" + std::to_string(channels) + "x", end = "x" + type + ">",
                    in = begin + c.in + end, out = begin + c.out + end,
                    window = "{kernel = array<i64: " + c.kernel +
                             ">, strides = array<i64: " + c.strides +
                             ">, dilations = array<i64: " + c.dilations +
                             ">, pads_low = array<i64: " + c.padsLow +
                             ">, pads_high = array<i64: " + c.padsHigh + ">}";
  return isGradient
             ? "func.func @f(%g: " + out + ", %x: " + in + ") -> " + in +
                   " { %r = graph.pool_grad " + kind + " %g, %x " + window + " : " + out + ", " +
                   in + " -> " + in + " return %r : " + in + " }"
             : "func.func @f(%x: " + in + ") -> " + out + " { %r = graph.pool " + kind + " %x " +
                   window + " : " + in + " -> " + out + " return %r : " + out + " }";
}

const Pooling kPoolings[] = {
    // Strips of blocks, which begin and end in the padding.
    {"3, 3", "2, 2", "1, 1", "1, 1", "1, 1", "20x7", "10x4"},
    {"2, 2", "2, 2", "1, 1", "0, 0", "0, 0", "5x6", "2x3"},
    // Gaps between windows, and windows that overlap more than once.
    {"1, 2", "2, 3", "1, 1", "0, 0", "0, 0", "8x9", "4x3"},
    {"3, 2", "1, 1", "1, 1", "1, 0", "1, 1", "4x5", "4x5"},
    {"3", "2", "1", "1", "1", "9", "5"},
    {"2, 3, 1", "2, 2, 1", "1, 1, 1", "0, 1, 0", "0, 1, 0", "4x5x3", "2x3x3"},
    // Windows that begin before the input, and windows that end after it.
    {"3, 3", "3, 3", "1, 1", "2, 1", "2, 2", "5x4", "3x2"},
    // Windows that other kernels compute: with dilations, and with many elements.
    {"3, 2", "2, 1", "1, 2", "1, 0", "1, 1", "7x6", "4x5"},
    {"7, 7", "1, 1", "1, 1", "3, 3", "3, 3", "8x8", "8x8"}};

} // namespace

TEST_CASE("pooling and its gradient on channels-last tensors") {
  for (const Pooling &c : kPoolings)
    for (const char *kind : {"max", "average"})
      for (bool isGradient : {false, true})
        for (auto [channels, type] : {std::pair(3, "f32"), std::pair(3, "bf16"),
                                      std::pair(8, "bf16"), std::pair(4, "f64")}) {
          INFO((isGradient ? "gradient of " : "")
               << kind << " of " << channels << " channels of " << c.in << " " << type << " by "
               << c.kernel << " at " << c.padsLow);
          const double tolerance = type == std::string("bf16") ? 1e-2 : 1e-6;
          CHECK(worstDifference({.text = poolText(kind, isGradient, c, channels, type),
                                 .tolerance = tolerance,
                                 .channelsLast = true}) <= tolerance);
        }
}
