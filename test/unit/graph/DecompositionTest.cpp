// Composites: reference evaluation against the interpretation of their decomposition.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Graph.h"
#include "passes/decompose/Decompose.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

// Makes the function return all results of the op that computes its first one.
static void returnAllResults(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  Operation *op = end->getOperand(0).getDefiningOp();
  end->setOperands(op->getResults());
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(), op->getResultTypes()));
}

static bool isComposite(func::FuncOp function) {
  bool found = false;
  function.walk([&](graph::DecompositionInterface) { found = true; });
  return found;
}

TEST_CASE("every composite computes what its decomposition computes") {
  for (const OpCase &c : allCases()) {
    GraphText whole(c.text()), parts(c.text());
    if (!isComposite(whole.function()))
      continue;
    returnAllResults(whole.function());
    returnAllResults(parts.function());
    decompose::decomposeComposites(parts.function());
    INFO(c.text() << parts.str());
    REQUIRE_FALSE(isComposite(parts.function()));
    Random random(7);
    std::vector<Tensor> args = randomArguments(whole.function(), random, c.low, c.high);
    auto expected = interpret::run(whole.function(), args);
    auto found = interpret::run(parts.function(), args);
    REQUIRE(expected.isOk());
    REQUIRE(found.isOk());
    for (size_t i = 0; i < expected->size(); ++i)
      CHECK(difference((*expected)[i], (*found)[i]) < 1e-12);
  }
}

TEST_CASE("softmax and its loss do not overflow") {
  for (const char *body : {"%y = graph.softmax %x dim 0 : tensor<2xf32>",
                           "%y = graph.log_softmax %x dim 0 : tensor<2xf32>"}) {
    GraphText text(OpCase{"%x: tensor<2xf32>", body, "tensor<2xf32>"}.text());
    decompose::decomposeComposites(text.function());
    Tensor x(ElementType::F32, {2});
    x.values = {1000, 900};
    auto results = interpret::run(text.function(), {x});
    REQUIRE(results.isOk());
    CHECK(std::isfinite((*results)[0].values[0]));
    CHECK((*results)[0].values[0] ==
          Approx(std::string(body).find("log") == std::string::npos ? 1 : 0));
  }
}
