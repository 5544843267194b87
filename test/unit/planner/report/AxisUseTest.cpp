// What the axes of a mesh split, in the words of the model.
#include "compiler/planner/report/AxisUse.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// The use of the first axis of a mesh that splits the given factor of the first op.
static std::string splitOf(const StepModel &model, size_t factor,
                           const std::set<int64_t> &vocabularies = {}) {
  Decisions decisions;
  decisions.mesh.axes = {{"dp", 2}};
  for (const Op &op : model.ops)
    decisions.ops.push_back({FactorAxes(op.rule.factors.size()), {}, {}});
  decisions.ops[0].factors[factor] = {0};
  for (const Argument &argument : model.arguments) {
    const Sharding whole = Sharding::replicated(model.values[argument.value].shape.size());
    decisions.arguments.push_back({whole, whole});
  }
  return splitText(axisUses(model, decisions, vocabularies)[0]);
}

static StepModel read(const std::string &text) {
  GraphText graph(text);
  auto model = readStep(graph.function());
  INFO(graph.diagnostics);
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

TEST_CASE("rows of inputs are the batch, columns of a weight are features") {
  const StepModel model = trainingModel(64, 32, 128);
  CHECK(splitOf(model, 0) == "batch in 20.0 %"); // one of five products of equal size
  CHECK(splitOf(model, 2) == "features in 20.0 %");
}

TEST_CASE("positions of tokens are a sequence, what is as long as a vocabulary is one") {
  const StepModel model = read(R"(
func.func @step(%x: tensor<4x6xi64> {graph.role = "input", graph.name = "x"},
                %h: tensor<4x6x8xf32> {graph.role = "state", graph.name = "h"},
                %w: tensor<8x50xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<4x6x50xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.dot_general %h, %w batch [] x [] contract [2] x [0]
    : tensor<4x6x8xf32>, tensor<8x50xf32> -> tensor<4x6x50xf32>
  %l = graph.cast %x : tensor<4x6xi64> -> tensor<4x6xf32>
  %b = graph.broadcast %l to [0, 1] : tensor<4x6xf32> -> tensor<4x6x50xf32>
  %z = graph.add %y, %b : tensor<4x6x50xf32>
  return %z : tensor<4x6x50xf32>
})");
  std::map<std::string, int> found;
  for (size_t factor = 0; factor < 4; ++factor)
    ++found[splitOf(model, factor, {50})];
  CHECK(found == std::map<std::string, int>{{"batch in 100.0 %", 1},
                                            {"sequence in 100.0 %", 1},
                                            {"vocabulary in 100.0 %", 1},
                                            {"features in 100.0 %", 1}});
}

TEST_CASE("a weight per expert, and places that share a weight") {
  const StepModel model = read(R"(
func.func @step(%x: tensor<3x6x8xf32> {graph.role = "state", graph.name = "x"},
                %w: tensor<3x8x5xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<3x6x5xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.dot_general %x, %w batch [0] x [0] contract [2] x [1]
    : tensor<3x6x8xf32>, tensor<3x8x5xf32> -> tensor<3x6x5xf32>
  return %y : tensor<3x6x5xf32>
})");
  std::map<std::string, int> found;
  for (size_t factor = 0; factor < 4; ++factor)
    ++found[splitOf(model, factor)];
  CHECK(found == std::map<std::string, int>{{"experts in 100.0 %", 1},
                                            {"positions in 100.0 %", 1},
                                            {"features in 100.0 %", 2}});
}

// The names of axes with these shares of DimUse: batch, sequence, positions, vocabulary, experts,
// features.
static std::string namesFor(const std::vector<std::array<double, kDimUses>> &shares) {
  Mesh mesh;
  std::vector<AxisUse> uses;
  for (const std::array<double, kDimUses> &flops : shares) {
    mesh.axes.push_back({"x" + std::to_string(mesh.axes.size()), 2});
    uses.push_back({.flops = flops, .parameters = 1});
  }
  return namedByUse(mesh, uses).str();
}

TEST_CASE("an axis is named by what it splits in most of the FLOPs") {
  CHECK(namesFor({{0.6, 0, 0, 0, 0, 0.4}, {0.4, 0, 0, 0, 0, 0.6}}) == "dp=2,tp=2");
  CHECK(namesFor({{0, 0, 0.9, 0, 0, 0}, {0.1, 0, 0, 0, 0.9, 0}}) == "sp=2,ep=2");
  CHECK(namesFor({{0.4, 0.3, 0.3, 0, 0, 0}}) == "sp=2"); // sequences and positions are one kind
  CHECK(namesFor({{0.4, 0, 0, 0.3, 0, 0.3}}) == "tp=2"); // and so are features and vocabularies
  CHECK(namesFor({{0.5, 0, 0, 0, 0, 0.5}}) == "dp=2");
  CHECK(namesFor({{0, 0, 0, 0, 0, 0}}) == "dp=2"); // it only stores parameters in parts
}

TEST_CASE("axes of one name are numbered in their order") {
  CHECK(namesFor({{0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}}) ==
        "tp1=2,dp=2,tp2=2");
}

TEST_CASE("parameters that are stored in parts and computed with as a whole are counted as ZeRO") {
  const StepModel model = trainingModel(64, 32, 128);
  PlannerOptions options;
  options.ranks = 4;
  options.pins = *Pins::parse("zero3");
  Result<PlanReport> plan = planStep(model, *cluster::findCluster("h100-node"), options);
  REQUIRE(plan.isOk());
  const AxisUse use = axisUses(model, *plan, {})[0];
  CHECK(use.parameters == 1);
  CHECK(use.states == 1);
  CHECK_THAT(text(use), Catch::EndsWith("; shards all parameters and all optimizer states"));
}

TEST_CASE("a parameter that is cast before it is gathered is sharded") {
  const StepModel model = read(R"(
func.func @step(%x: tensor<4x8xbf16> {graph.role = "input", graph.name = "x"},
                %w: tensor<8x5xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<4x5xbf16> {graph.role = "output", graph.name = "y"}) {
  %c = graph.cast %w : tensor<8x5xf32> -> tensor<8x5xbf16>
  %y = graph.dot_general %x, %c batch [] x [] contract [1] x [0]
    : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xbf16>
  return %y : tensor<4x5xbf16>
})");
  Decisions decisions;
  decisions.mesh.axes = {{"dp", 2}};
  for (const Op &op : model.ops)
    decisions.ops.push_back({FactorAxes(op.rule.factors.size()), {}, {}});
  const Sharding rows{.dims = {{0}, {}}};
  decisions.arguments = {{rows, rows}, {rows, rows}}; // the cast reads and writes blocks
  decisions.ops[0].factors[0] = {0};
  decisions.ops[1].factors[0] = {0};
  const AxisUse use = axisUses(model, decisions, {})[0];
  CHECK(use.parameters == 1);
  CHECK(text(use) == "splits the batch; shards all parameters");
  decisions.ops[1].factors = FactorAxes(model.ops[1].rule.factors.size());
  decisions.ops[1].factors[2] = {0}; // the terms: the product computes with the block
  CHECK(axisUses(model, decisions, {})[0].parameters == 0);
}

TEST_CASE("an axis says what it splits and shards, all of it without a number") {
  AxisUse use{.flops = {0.921, 0, 0, 0, 0, 0.079}, .parameters = 0.981, .states = 1};
  CHECK(text(use) == "splits batch in 92.1 %, features in 7.9 % of the FLOPs; shards 98.1 % of the "
                     "parameters and all optimizer states");
  use = {.flops = {0, 1, 0, 0, 0, 0}, .states = 0.5};
  CHECK(text(use) == "splits the sequence; shards 50.0 % of the optimizer states");
  CHECK(text(AxisUse()) == "splits no computation");
}
