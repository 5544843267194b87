// Every gradient rule against central differences.
#include "test/unit/autodiff/FiniteDifference.h"
#include "passes/autodiff/rules/Rules.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

TEST_CASE("every gradient rule agrees with finite differences") {
  for (const OpCase &c : differentiableCases())
    for (unsigned seed : {1, 2})
      checkGradients(c.text(), c.low, c.high, seed);
}

// Ops that have no gradient, or whose gradient is never used.
static const std::set<std::string> kWithoutRule = {
    "graph.constant",
    "graph.iota",
    "graph.sizes", // no operands
    "graph.compare",
    "graph.not",
    "graph.and",
    "graph.or",
    "graph.xor",
    "graph.shift_left",
    "graph.shift_right",   // truth values and integers
    "graph.random",        // the same whatever comes in
    "graph.stop_gradient", // where gradients end
    "graph.pool_grad",
    "graph.attention_grad", // gradients themselves
    "graph.sgd",
    "graph.adam", // behind the gradients
    "graph.enter_f32",
    "graph.leave_f32", // dropped before differentiation
    "graph.fusion",
    "graph.yield", // formed after differentiation
};

TEST_CASE("every op has a gradient rule that is tested, or a reason to have none") {
  std::set<std::string> tested;
  GraphText text("module {}");
  for (const OpCase &c : differentiableCases())
    GraphText(c.text()).module().walk(
        [&](Operation *op) { tested.insert(op->getName().getStringRef().str()); });
  autodiff::RuleTable rules;
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    std::string name = op.getStringRef().str();
    INFO(name);
    CHECK((rules.find(name) != nullptr) != (kWithoutRule.count(name) > 0));
    if (rules.find(name))
      CHECK(tested.count(name) == 1);
  }
}
