// The cost network: what changing layouts costs.
#include "compiler/planner/PlanProblem.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// exp(x), read by three products.
static const char *const step = R"(
func.func @step(%x: tensor<64x64xf32> {graph.role = "input", graph.name = "x"}) ->
    (tensor<64x64xf32> {graph.role = "output", graph.name = "a"}, tensor<64x64xf32> {graph.role = "output", graph.name = "b"},
     tensor<64x64xf32> {graph.role = "output", graph.name = "c"}) {
  %h = graph.exp %x : tensor<64x64xf32>
  %a = graph.dot_general %h, %h batch [] x [] contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b = graph.dot_general %a, %h batch [] x [] contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %c = graph.dot_general %b, %h batch [] x [] contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
})";

// The seconds of all edges where every node takes the given choice.
static double edgeSeconds(const solver::Problem &problem, const std::vector<int> &choices) {
  double seconds = 0;
  for (const solver::Edge &edge : problem.edges)
    seconds +=
        edge.cost[choices[edge.from] * problem.nodes[edge.to].choices.size() + choices[edge.to]];
  return seconds;
}

TEST_CASE("readers in one part of the step share a change of layout") {
  GraphText text(step);
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  Mesh mesh{{{"dp", 4}}};
  cluster::Cluster machine = *cluster::findCluster("h100-node");
  Costs costs(*model, machine, mesh);
  PlanProblem plan = buildProblem(costs, {}, int64_t(1) << 40);
  // exp by rows, all products whole.
  Sharding split = Sharding::replicated(2);
  split.dims[0] = {0};
  auto isSplit = [&](const OpChoice &choice) { return choice.results[0] == split; };
  const std::vector<OpChoice> &made = plan.opChoices[0];
  std::vector<int> choices(plan.problem.nodes.size(), 0);
  choices[0] = static_cast<int>(std::find_if(made.begin(), made.end(), isSplit) - made.begin());
  REQUIRE(choices[0] < static_cast<int>(made.size()));
  for (int reader : {1, 2, 3})
    REQUIRE(plan.opChoices[reader][0].operands[0].isReplicated());
  double gather = costs.reshard(1, split, Sharding::replicated(2)), least = solver::forbidden;
  REQUIRE(gather > 0);
  size_t copy = plan.problem.nodes.size() - 1;
  REQUIRE(plan.problem.nodes[copy].name.ends_with(", as read"));
  for (size_t i = 0; i < plan.problem.nodes[copy].choices.size(); ++i) {
    choices[copy] = static_cast<int>(i);
    least = std::min(least, edgeSeconds(plan.problem, choices));
  }
  CHECK(least == Approx(gather));
}
