// Casts of bf16 in kernels: exact for all numbers, in few instructions.
#include "test/unit/codegen/KernelHarness.h"

#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

using namespace cleave;

namespace {

// The results of a kernel that casts `x` to `to`, and to f32.
template <typename T> std::vector<float> cast(const std::string &from, const std::vector<T> &x) {
  const std::string n = std::to_string(x.size()), in = "tensor<" + n + "x" + from + ">",
                    out = "tensor<" + n + "xf32>", narrow = "tensor<" + n + "xbf16>";
  const std::string casts = from == "bf16"
                                ? "%w = graph.cast %a : " + narrow + " -> " + out + "\n"
                                : "%c = graph.cast %a : " + in + " -> " + narrow +
                                      "\n%w = graph.cast %c : " + narrow + " -> " + out + "\n";
  auto kernel = test::CompiledKernel::compile({"func.func @f(%x: " + in + ") -> " + out +
                                               " { %r = graph.fusion (%a = %x : " + in + ") -> (" +
                                               out + ") {\n" + casts + "graph.yield %w : " + out +
                                               "\n}\nreturn %r : " + out + " }"});
  REQUIRE(kernel);
  alignas(64) static T operand[1 << 16];
  alignas(64) static float result[1 << 16];
  REQUIRE(x.size() <= 1 << 16);
  std::copy(x.begin(), x.end(), operand);
  void *buffers[] = {operand, result};
  REQUIRE(kernel->run(buffers, 0, kernel->extent()));
  return {result, result + x.size()};
}

bool isEqual(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

} // namespace

TEST_CASE("every bf16 becomes the f32 of its value") {
  std::vector<uint16_t> all;
  for (int i = 0; i < 1 << 16; ++i)
    all.push_back(static_cast<uint16_t>(i));
  std::vector<float> wide = cast("bf16", all);
  int wrong = 0;
  for (size_t i = 0; i < all.size(); ++i)
    wrong += !isEqual(wide[i], fromBF16(all[i]));
  CHECK(wrong == 0);
}

TEST_CASE("an f32 that is rounded to bf16 and used again has the rounded value") {
  std::vector<float> x;
  for (uint32_t i = 0; i < 1 << 12; ++i) // all exponents and both signs; ties and their neighbours
    x.push_back(std::bit_cast<float>((i << 20) + 0x8000 + i % 3 - 1));
  std::vector<float> rounded = cast("f32", x);
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i]);
    CHECK(isEqual(rounded[i], fromBF16(toBF16(x[i]))));
  }
}
