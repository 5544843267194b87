// The order in which CPU kernels sum a row: stated here once more, and the same in every kernel.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace cleave;
using namespace cleave::test;

namespace {

// Three kernels whose first result is the sum of each row of x: alone, after a maximum and beside
// a sum of exponentials, and with the centred rows as a further result.
const std::vector<std::string> kSums = {
    R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<Nxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<Nxf32>) {
    %s = graph.reduce sum %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    graph.yield %s : tensor<Nxf32>
  }
  return %r : tensor<Nxf32>
})",
    R"(func.func @f(%x: tensor<NxMxf32>) -> (tensor<Nxf32>, tensor<Nxf32>) {
  %r:2 = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<Nxf32>, tensor<Nxf32>) {
    %m = graph.reduce max %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %mb = graph.broadcast %m to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %a, %mb : tensor<NxMxf32>
    %e = graph.exp %d : tensor<NxMxf32>
    %t = graph.reduce sum %e over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %s = graph.reduce sum %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    graph.yield %s, %t : tensor<Nxf32>, tensor<Nxf32>
  }
  return %r#0, %r#1 : tensor<Nxf32>, tensor<Nxf32>
})",
    R"(func.func @f(%x: tensor<NxMxf32>) -> (tensor<Nxf32>, tensor<NxMxf32>) {
  %r:2 = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<Nxf32>, tensor<NxMxf32>) {
    %s = graph.reduce sum %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %n = graph.constant dense<M.0> : tensor<Nxf32>
    %mean = graph.div %s, %n : tensor<Nxf32>
    %mb = graph.broadcast %mean to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %a, %mb : tensor<NxMxf32>
    graph.yield %s, %d : tensor<Nxf32>, tensor<NxMxf32>
  }
  return %r#0, %r#1 : tensor<Nxf32>, tensor<NxMxf32>
})"};

// The sum of a row by the order that RowSums.h states.
float inOrder(const double *row, int64_t size) {
  int64_t count = 64;
  while (count > size)
    count /= 2;
  if (size < 8)
    count = 1;
  const int64_t vectors = count > 1 ? size - size % 8 : 0;
  std::vector<float> partial(count, 0);
  float rest = 0;
  for (int64_t i = 0; i < vectors; ++i)
    partial[i % count] += static_cast<float>(row[i]);
  for (int64_t i = vectors; i < size; ++i)
    rest += static_cast<float>(row[i]);
  for (int64_t half = count / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      partial[i] += partial[i + half];
  return partial[0] + rest;
}

} // namespace

TEST_CASE("a row is summed in one order, whatever else the kernel computes") {
  constexpr int64_t kRows = 5;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  for (int64_t size : {1, 3, 7, 8, 15, 16, 31, 49, 64, 100, 127, 197, 768, 1000, 1024}) {
    std::vector<double> x(kRows * size), expected;
    for (double &element : x)
      element = real(random);
    for (int64_t row = 0; row < kRows; ++row)
      expected.push_back(inOrder(x.data() + row * size, size));
    for (const std::string &text : kSums) {
      INFO("rows of " << size << " elements, " << text);
      KernelCase testCase{sized(text, kRows, size)};
      testCase.given = {{0, x}};
      CHECK(resultsOf(testCase) == expected);
    }
  }
}
