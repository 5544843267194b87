// A step with recomputed ops computes what it computed, bit by bit, whichever ops are recomputed;
// and partitioned over ranks as well.
#include "passes/remat/Realise.h"
#include "compiler/cluster/Presets.h"
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/Ranks.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/search/Planner.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/fuse/Fuse.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/Partition.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/graph_text/GraphText.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

namespace {

planner::StepModel modelOf(GraphText &text) {
  auto model = planner::readStep(text.function());
  INFO(text.diagnostics);
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

planner::RematPolicy randomPolicy(const planner::StepModel &model, Random &random) {
  planner::RematPolicy policy = planner::keepAll(model);
  const int count = static_cast<int>(policy.recomputed.size());
  for (int i = 0; i < count; ++i) {
    policy.recomputed[i] = random() % 2;
    for (int place = i; random() % 2 && ++place < count;)
      if (place += random() % (count - place); model.ops[place].part != planner::Part::Forward)
        policy.places[i].push_back(place);
  }
  planner::normalise(model, policy);
  return policy;
}

std::vector<Tensor> resultsOf(GraphText &text, const std::vector<Tensor> &args) {
  auto results = interpret::run(text.function(), args);
  INFO((results.isOk() ? "" : results.status().message()));
  REQUIRE(results.isOk());
  return *results;
}

// The positions of the step's recomputed ops.
std::vector<size_t> recomputedIn(GraphText &text) {
  std::vector<size_t> found;
  for (auto [i, op] : llvm::enumerate(graph::opsOf(text.function())))
    if (graph::isRecomputed(op))
      found.push_back(i);
  return found;
}

} // namespace

TEST_CASE("recomputation does not change a bit of any result") {
  Random random(1);
  for (bool isGrouped : {false, true})
    for (int round = 0; round < 20; ++round) {
      GraphText text(deepStep(3, 4, 5));
      if (isGrouped)
        fuse::formGroups(text.function());
      std::vector<Tensor> args = randomArguments(text.function(), random, -0.3, 0.3);
      std::vector<Tensor> expected = resultsOf(text, args);
      planner::StepModel model = modelOf(text);
      remat::realise(text.function(), model, randomPolicy(model, random));
      INFO(text.str());
      REQUIRE(mlir::succeeded(mlir::verify(text.module())));
      std::vector<Tensor> actual = resultsOf(text, args);
      for (size_t i = 0; i < expected.size(); ++i)
        CHECK(actual[i].values == expected[i].values);
    }
}

TEST_CASE("a recomputed op is read by the backward pass, and belongs to it") {
  GraphText text(deepStep(3, 4, 5));
  planner::StepModel model = modelOf(text);
  planner::RematPolicy policy = planner::keepAll(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    policy.recomputed[i] = model.ops[i].kind == "graph.exp";
  CHECK(remat::realise(text.function(), model, policy) == 3);
  CHECK(recomputedIn(text).size() == 3);
  planner::StepModel after = modelOf(text);
  for (const planner::Op &op : after.ops) {
    if (op.kind != "graph.exp")
      continue;
    const planner::Value &result = after.values[op.results[0]];
    CHECK(op.part == (op.isRecomputed ? planner::Part::Backward : planner::Part::Forward));
    for (const planner::Use &use : result.uses)
      CHECK(after.ops[use.op].part == op.part);
  }
}

TEST_CASE("an op is recomputed once per place, for the readers from there to the next place") {
  GraphText text(R"(
func.func @step(%x: tensor<4xf32> {graph.role = "input"}, %w: tensor<4xf32> {graph.role = "parameter"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4xf32> {graph.role = "metric"}) {
  %h = graph.add %x, %w : tensor<4xf32>
  %e = graph.exp %h : tensor<4xf32>
  %l = graph.reduce sum %e over [0] : tensor<4xf32> -> tensor<f32>
  %a = graph.neg %e : tensor<4xf32>
  %b = graph.mul %a, %e : tensor<4xf32>
  %c = graph.mul %b, %e : tensor<4xf32>
  return %l, %c : tensor<f32>, tensor<4xf32>
})");
  const planner::StepModel model = modelOf(text);
  planner::RematPolicy policy = planner::keepAll(model);
  policy.recomputed[1] = true;
  policy.places[1] = {4, 5}; // the first reader finds what is kept
  CHECK(remat::realise(text.function(), model, policy) == 2);
  CHECK(recomputedIn(text) == std::vector<size_t>{4, 6});
  const planner::StepModel after = modelOf(text);
  CHECK(after.ops[4].name == "exp.4, recomputed");
  CHECK(after.ops[6].name == "exp.6, recomputed 2");
  CHECK(after.values[after.ops[1].results[0]].uses.size() == 2);
  for (int index : {4, 6})
    CHECK(after.ops[index + 1].operands[1] == after.ops[index].results[0]);
}

TEST_CASE("an op that no reader needs is not recomputed") {
  GraphText text(deepStep(3, 4, 5));
  planner::StepModel model = modelOf(text);
  planner::RematPolicy policy = planner::keepAll(model);
  for (size_t i = 0; i < model.ops.size(); ++i) // only the exponentials read the products
    policy.recomputed[i] = model.ops[i].kind == "graph.dot_general";
  planner::normalise(model, policy);
  CHECK(remat::realise(text.function(), model, policy) == 0);
}

TEST_CASE("a recomputed op stands before its first reader, and before an update of what it reads") {
  GraphText text(deepStep(2, 4, 5));
  planner::StepModel model = modelOf(text);
  remat::realise(text.function(), model, planner::fullRecompute(model));
  planner::StepModel after = modelOf(text);
  for (size_t i = 0; i < after.ops.size(); ++i)
    for (int operand : after.ops[i].operands)
      if (int argument = after.values[operand].argument;
          after.ops[i].isRecomputed && argument >= 0 && after.arguments[argument].output >= 0) {
        int output = after.outputs[after.arguments[argument].output].value;
        CHECK(static_cast<int>(i) < after.values[output].producer);
      }
}

TEST_CASE("partitioning does not merge recomputed ops with the original ones") {
  Random random(2);
  const Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  for (int round = 0; round < 6; ++round) {
    GraphText text(deepStep(3, 4, 6));
    text.context()->loadDialect<mesh::MeshDialect>();
    std::vector<Tensor> args = randomArguments(text.function(), random, -0.3, 0.3);
    std::vector<Tensor> expected = resultsOf(text, args);
    planner::StepModel before = modelOf(text);
    remat::realise(text.function(), before, planner::fullRecompute(before));
    const size_t recomputed = recomputedIn(text).size();
    REQUIRE(recomputed > 0);
    auto cluster = cluster::forRanks(*cluster::findCluster("h100-node"), mesh.ranks());
    planner::PlannerOptions options;
    options.ranks = mesh.ranks();
    options.mesh = mesh;
    auto plan = planner::planStep(modelOf(text), *cluster::findCluster("h100-node"), options);
    REQUIRE(plan.isOk());
    shard::annotate(text.function(), *plan);
    REQUIRE(mlir::succeeded(shard::partition(text.function(), *cluster)));
    CHECK(recomputedIn(text).size() >= recomputed);
    auto actual = interpret::runPartitioned(text.function(), args);
    INFO((actual.isOk() ? "" : actual.status().message()) << text.str());
    REQUIRE(actual.isOk());
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(difference((*actual)[i], expected[i]) < 1e-4);
  }
}
