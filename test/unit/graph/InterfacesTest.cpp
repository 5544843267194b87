// Interfaces and traits: every op of the graph dialect has all interfaces and consistent traits,
// and every op occurs in the tests that walk all ops.
#include "dialects/graph/Graph.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

TEST_CASE(
    "every graph op has a factor rule, a cost, reference semantics and a way to partition it") {
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

TEST_CASE("the traits of movement imply each other") {
  GraphText text("module {}");
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    INFO(op.getStringRef().str());
    bool isCopy = op.hasTrait<graph::ElementCopy>(), isUnary = op.hasTrait<graph::UnaryCopy>(),
         isLayout = op.hasTrait<graph::LayoutOnly>(),
         isRearrangement = op.hasTrait<graph::DimRearrangement>();
    CHECK(isCopy >= isUnary);
    CHECK(isCopy >= isLayout);
    CHECK(isLayout >= isRearrangement);
    CHECK(isUnary >= isLayout);
    CHECK_FALSE((op.hasTrait<graph::ComputeOp>() && op.hasTrait<graph::GroupBoundary>()));
  }
}

TEST_CASE("an element copy gives elements of its operands only, and keeps all when it rearranges") {
  Random random(1);
  for (const OpCase &c : allCases()) {
    GraphText text(c.text());
    for (Operation &op : text.function().getBody().front()) {
      if (!op.hasTrait<graph::ElementCopy>())
        continue;
      INFO(c.text());
      SmallVector<Tensor> operands;
      std::multiset<double> given;
      for (Type type : op.getOperandTypes()) {
        operands.push_back(randomTensor(type, random));
        given.insert(operands.back().values.begin(), operands.back().values.end());
      }
      Tensor result = cast<graph::ReferenceInterface>(op).evaluate(operands)[0];
      for (double value : result.values)
        CHECK(given.count(value) > 0);
      if (op.hasTrait<graph::DimRearrangement>())
        CHECK(std::multiset<double>(result.values.begin(), result.values.end()) == given);
    }
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

TEST_CASE("the printed form of every op parses to the same op") {
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
