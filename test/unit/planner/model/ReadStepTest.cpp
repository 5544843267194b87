// Reading the IR: how often ops run, and what is refused.
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("ops that gradients depend on are repeated for every micro-batch") {
  StepModel model = trainingModel(8, 4, 16, 3);
  std::string repeats;
  for (const Op &op : model.ops)
    repeats += static_cast<char>('0' + op.repeats);
  CHECK(repeats == "33333333333331111");
}

TEST_CASE("symbolic dims are refused with a way out") {
  GraphText text(R"(func.func @step(%x: tensor<?xf32, #graph.dims<["batch"]>>) { return })");
  CHECK(mlir::failed(readStep(text.function())));
  CHECK_THAT(text.diagnostics, Catch::Contains("give them values with --set NAME=SIZE"));
}

TEST_CASE("uses, producers and arguments of values refer to each other") {
  const StepModel model = trainingModel(8, 4, 16, 3);
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    CHECK(op.rule.operands.size() == op.operands.size());
    CHECK(op.rule.results.size() == op.results.size());
    for (size_t r = 0; r < op.results.size(); ++r) {
      CHECK(model.values[op.results[r]].producer == static_cast<int>(i));
      CHECK(model.values[op.results[r]].result == static_cast<int>(r));
    }
    for (size_t operand = 0; operand < op.operands.size(); ++operand) {
      const std::vector<Use> &uses = model.values[op.operands[operand]].uses;
      CHECK(std::count_if(uses.begin(), uses.end(), [&](const Use &use) {
              return use.op == static_cast<int>(i) && use.operand == static_cast<int>(operand);
            }) == 1);
    }
  }
  for (size_t a = 0; a < model.arguments.size(); ++a) {
    const Argument &argument = model.arguments[a];
    CHECK(model.values[argument.value].argument == static_cast<int>(a));
    if (argument.output >= 0)
      CHECK(model.outputs[argument.output].argument == static_cast<int>(a));
  }
}
