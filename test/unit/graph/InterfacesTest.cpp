// The gate: every op of the graph dialect answers every interface, and every op occurs in the tests
// that walk all ops.
#include "dialects/graph/Graph.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

TEST_CASE("every graph op has a factor rule, a cost, reference semantics and a way to be cut") {
  GraphText text("module {}");
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    std::string name = op.getStringRef().str();
    if (name == "graph.yield") // the end of a fusion's body
      continue;
    INFO(name);
    CHECK(op.hasInterface<graph::FactorRuleInterface>());
    CHECK(op.hasInterface<graph::CostInterface>());
    CHECK(op.hasInterface<graph::ReferenceInterface>());
    CHECK(op.hasInterface<graph::PartitionInterface>());
    CHECK(op.hasInterface<MemoryEffectOpInterface>());
  }
}

TEST_CASE("every graph op occurs in the test programs") {
  std::set<std::string> used;
  for (const OpCase &c : allCases())
    GraphText(c.text()).module().walk(
        [&](Operation *op) { used.insert(op->getName().getStringRef().str()); });
  GraphText text("module {}");
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    INFO(op.getStringRef().str());
    CHECK(used.count(op.getStringRef().str()) == 1);
  }
}

TEST_CASE("every op reads what it prints") {
  for (const OpCase &c : allCases()) {
    GraphText text(c.text());
    std::string printed = text.str();
    CHECK(GraphText(printed).str() == printed);
  }
}

TEST_CASE("a matrix product costs two operations per multiply-add, in symbols too") {
  GraphText text(
      R"(func.func @f(%x: tensor<?x4xf32, #graph.dims<["batch", ""]>>, %w: tensor<4x3xf32>)
      -> tensor<?x3xf32, #graph.dims<["batch", ""]>> {
    %y = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      : tensor<?x4xf32, #graph.dims<["batch", ""]>>, tensor<4x3xf32> -> tensor<?x3xf32, #graph.dims<["batch", ""]>>
    return %y : tensor<?x3xf32, #graph.dims<["batch", ""]>>
  })");
  Operation *dot = &text.function().getBody().front().front();
  CHECK(cast<graph::CostInterface>(dot).getFlops().str() == "24*batch");
}
