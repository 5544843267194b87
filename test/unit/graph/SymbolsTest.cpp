// Symbols of a module: listing them, and binding them to values.
#include "dialects/graph/Symbols.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

static const char *kProgram = R"mlir(
func.func @f(%x: tensor<?x?xf32, #graph.dims<["batch", "floor((seq + 1)/2)"]>>) {
  %s = graph.slice %x dim 1 from 0 step 1 {symbolic_start = "floor((seq + 1)/2) - 2"}
    : tensor<?x?xf32, #graph.dims<["batch", "floor((seq + 1)/2)"]>> -> tensor<?x2xf32, #graph.dims<["batch", ""]>>
  %n = graph.sizes ["1"] {divisor = "batch*seq"} : tensor<f32>
  %b = graph.broadcast %n to [] : tensor<f32> -> tensor<?x2xf32, #graph.dims<["batch", ""]>>
  %y = graph.mul %s, %b : tensor<?x2xf32, #graph.dims<["batch", ""]>>
  return
})mlir";

TEST_CASE("the symbols of a module are those of its types and attributes") {
  GraphText text(kProgram);
  CHECK(graph::symbolsOf(text.module()) == std::vector<std::string>{"batch", "seq"});
}

TEST_CASE("binding replaces symbols in dims, positions and numbers") {
  GraphText text(kProgram);
  REQUIRE(graph::bindSymbols(text.module(), {{"seq", 8}}).isOk());
  CHECK(graph::symbolsOf(text.module()) == std::vector<std::string>{"batch"});
  CHECK_THAT(text.str(), Catch::Contains(R"(divisor = "8*batch")"));
  REQUIRE(graph::bindSymbols(text.module(), {{"batch", 4}}).isOk());
  CHECK(graph::symbolsOf(text.module()).empty());
  std::string bound = text.str();
  CHECK_THAT(bound, Catch::Contains("from 2 step 1 : tensor<4x4xf32> -> tensor<4x2xf32>"));
  CHECK_THAT(bound, Catch::Contains("graph.constant dense<3.125000e-02> : tensor<f32>"));
}

TEST_CASE("values that violate an assumption are an error") {
  GraphText text(kProgram);
  Polynomial seq = Polynomial::symbol("seq"), batch = Polynomial::symbol("batch");
  graph::setAssumptions(text.module(), {Polynomial(16) - seq * batch, seq - 3, Polynomial(5)});
  REQUIRE(graph::assumptionsOf(text.module()).size() == 2);
  CHECK(graph::asInequality(graph::assumptionsOf(text.module())[0]) == "batch*seq <= 16");
  CHECK(graph::bindSymbols(text.module(), {{"seq", 8}, {"batch", 3}}).message() ==
        "the model was imported for batch*seq <= 16, which does not hold for the given sizes; "
        "import it with them");
  REQUIRE(graph::bindSymbols(text.module(), {{"seq", 8}}).isOk());
  CHECK(graph::assumptionsOf(text.module()) == std::vector<Polynomial>{Polynomial(16) - batch * 8});
  REQUIRE(graph::bindSymbols(text.module(), {{"batch", 2}}).isOk());
  CHECK_FALSE(text.module()->hasAttr("graph.assumptions"));
}

TEST_CASE("values for which shapes do not fit are an error") {
  GraphText text(kProgram);
  CHECK(graph::bindSymbols(text.module(), {{"seq", 0}}).message() ==
        "symbol 'seq' cannot be 0, expected at least 1");
  CHECK_THAT(graph::bindSymbols(text.module(), {{"seq", 1}}).message(),
             Catch::StartsWith("the model does not fit the given sizes: "));
}
