// Low types round where PyTorch rounds: results of pointwise ops of bf16 values and Python numbers
// as PyTorch 2.15 gives them, on a CPU.
#include "passes/precision/Precision.h"
#include "compiler/interpret/Interpret.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

// The results of an op `mnemonic` on {3, 5, 7, 9} in bf16 and a number.
static std::vector<double> computed(const std::string &mnemonic, const std::string &number) {
  GraphText text(R"(func.func @f(%x: tensor<4x1xf32>, %one: tensor<1x1xf32>) -> tensor<4x1xf32> {
    %n = graph.constant dense<)" +
                 number + R"(> : tensor<4x1xf32>
    %p = graph.dot_general %x, %one batch [] x [] contract [1] x [0]
      : tensor<4x1xf32>, tensor<1x1xf32> -> tensor<4x1xf32>
    %y = graph.)" +
                 mnemonic + R"( %p, %n : tensor<4x1xf32>
    return %y : tensor<4x1xf32>
  })");
  REQUIRE(succeeded(precision::applyPolicy(text.function(), *precision::parsePolicy("bf16"))));
  Tensor x(ElementType::F32, {4, 1}), one(ElementType::F32, {1, 1}, 1);
  x.values = {3, 5, 7, 9};
  auto results = interpret::run(text.function(), {x, one});
  INFO(results.status().message());
  REQUIRE(results.isOk());
  return (*results)[0].values;
}

TEST_CASE("numbers meet bf16 values as in PyTorch") {
  using Values = std::vector<double>;
  // x * (1 / 49), where 1 / 49 in bf16 gives 0.06103515625 for the first element.
  CHECK(computed("mul", "0.020408163265306121") ==
        Values{0.061279296875, 0.10205078125, 0.142578125, 0.18359375});
  // x / 49.3
  CHECK(computed("div", "49.3") == Values{0.060791015625, 0.1015625, 0.1416015625, 0.1826171875});
}
