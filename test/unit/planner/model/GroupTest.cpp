// Splits of the ops inside a kernel group.
#include "compiler/planner/model/Group.h"
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

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

TEST_CASE("ops of a group are split where the group's factors run through them") {
  // y = sum of exp(x) + z over columns, of 4 rows and 6 columns.
  const std::vector<Polynomial> whole = {4, 6}, rows = {4};
  Group group;
  group.dims = {2, 2, 2, 2, 1};
  group.ops = {{FactorRule::parse("a b -> a b", {whole}, {whole}), {0}, {2}},
               {FactorRule::parse("a b, a b -> a b", {whole, whole}, {whole}), {2, 1}, {3}},
               {FactorRule::parse("a b -> a", {whole}, {rows}), {3}, {4}}};
  group.arguments = {0, 1};
  group.yielded = {4};
  const FactorRule rule = FactorRule::parse("a b, a b -> a", {whole, whole}, {rows});
  const Mesh mesh = {{{"dp", 2}, {"tp", 3}}};
  const auto byRows = projectSplit(group, rule, {{0}, {}}, mesh);
  REQUIRE(byRows);
  CHECK(*byRows == std::vector<FactorAxes>{{{0}, {}}, {{0}, {}}, {{0}, {}}});
  const auto byBoth = projectSplit(group, rule, {{0}, {1}}, mesh);
  REQUIRE(byBoth);
  CHECK(*byBoth == std::vector<FactorAxes>{{{0}, {1}}, {{0}, {1}}, {{0}, {1}}});
}
