// Reading the IR: parts of the step, repetitions, the batch; splits of kernel groups.
#include "compiler/planner/Batch.h"
#include "compiler/planner/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a step has a forward, a backward and an update part") {
  StepModel model = trainingModel(8, 4, 16);
  std::string parts;
  for (const Op &op : model.ops)
    parts += "FBU"[static_cast<int>(op.part)];
  // dots, relu, mul, reduce | constant … accumulate, step count | adam, adam
  CHECK(parts == "FFFFFBBBBBBBBBBUU");
}

TEST_CASE("ops that gradients depend on are repeated for every micro-batch") {
  StepModel model = trainingModel(8, 4, 16, 3);
  std::string repeats;
  for (const Op &op : model.ops)
    repeats += static_cast<char>('0' + op.repeats);
  CHECK(repeats == "33333333333331111");
}

TEST_CASE("the batch is followed through products and gradients") {
  StepModel model = trainingModel(8, 4, 16);
  Batch batch = findBatch(model);
  CHECK(batch.dims[model.ops[0].results[0]] == std::vector<bool>{true, false});
  CHECK(batch.dims[model.ops[7].results[0]] == std::vector<bool>{false, false}); // a gradient
  CHECK(batch.hasFactor(7)); // summed over the batch
  CHECK(!batch.hasFactor(15));
}

TEST_CASE("symbolic dims are refused with a way out") {
  GraphText text(R"(func.func @step(%x: tensor<?xf32, #graph.dims<["batch"]>>) { return })");
  CHECK(mlir::failed(readStep(text.function())));
  CHECK_THAT(text.diagnostics, Catch::Contains("give them values with --set NAME=SIZE"));
}

TEST_CASE("a group is split only where every op inside can be") {
  GraphText text(R"(func.func @step(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %0 = graph.fusion (%a = %x : tensor<6x4xf32>) -> (tensor<6x4xf32>) {
      %f = graph.reshape %a : tensor<6x4xf32> -> tensor<24xf32>
      %e = graph.exp %f : tensor<24xf32>
      %g = graph.reshape %e : tensor<24xf32> -> tensor<6x4xf32>
      graph.yield %g : tensor<6x4xf32>
    }
    return %0 : tensor<6x4xf32>
  })");
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  const Op &op = model->ops[0];
  const Mesh three = {{{"dp", 3}}}, four = {{{"dp", 4}}};
  FactorAxes rows(op.rule.factors.size()), columns(op.rule.factors.size());
  rows[op.rule.operands[0][0][0]] = {0};
  columns[op.rule.operands[0][1][0]] = {0};
  auto split = projectSplit(*op.group, op.rule, rows, three);
  REQUIRE(split);
  CHECK((*split)[1] == FactorAxes{{0}}); // exp of the flat tensor
  CHECK(
      !projectSplit(*op.group, op.rule, rows, four)); // 6 rows: blocks of 2, 2, 2 and 0, not equal
  CHECK(!projectSplit(*op.group, op.rule, columns, four));
}
