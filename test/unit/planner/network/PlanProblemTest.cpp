// The cost network: prices of layout changes.
#include "compiler/planner/network/PlanProblem.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// exp(x), read by three products.
static const char *const kStep = R"(
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
  GraphText text(kStep);
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  Mesh mesh{{{"dp", 4}}};
  cluster::Cluster machine = *cluster::findCluster("h100-node");
  Costs costs(*model, machine, mesh);
  PlanProblem plan = *buildProblem(costs, {}, int64_t(1) << 40);
  // exp by rows, all products whole.
  Sharding split = Sharding::replicated(2);
  split.dims[0] = {0};
  auto isSplit = [&](const OpChoice &choice) { return choice.results[0] == split; };
  const std::vector<OpChoice> &made = plan.choicesOf(0);
  std::vector<int> choices(plan.network.nodes.size(), 0);
  choices[0] = static_cast<int>(std::find_if(made.begin(), made.end(), isSplit) - made.begin());
  REQUIRE(choices[0] < static_cast<int>(made.size()));
  for (int reader : {1, 2, 3})
    REQUIRE(plan.choicesOf(reader)[0].operands[0].isReplicated());
  double gather = costs.reshard(1, split, Sharding::replicated(2)), least = solver::kForbidden;
  REQUIRE(gather > 0);
  size_t copy = plan.network.nodes.size() - 1;
  REQUIRE(plan.network.nodes[copy].name.ends_with(", as read"));
  for (size_t i = 0; i < plan.network.nodes[copy].choices.size(); ++i) {
    choices[copy] = static_cast<int>(i);
    least = std::min(least, edgeSeconds(plan.network, choices));
  }
  CHECK(least == Approx(gather));
}

// The numbers of kinds and of tables of edges in a step of `layers` layers exp(h w), where a rule
// pins the op of this number unless it is negative.
static std::pair<size_t, size_t> kindsOf(int layers, int pinned = -1) {
  const std::string type = "tensor<64x64xf32>";
  std::string body, last = "%x";
  for (int i = 0; i < layers; ++i) {
    std::string number = std::to_string(i);
    body += "%p" + number + " = graph.dot_general " + last +
            ", %w batch [] x [] contract [1] x [0] : " + type + ", " + type + " -> " + type +
            "\n%h" + number + " = graph.exp %p" + number + " : " + type + "\n";
    last = "%h" + number;
  }
  GraphText text("func.func @step(%x: " + type +
                 " {graph.role = \"input\", graph.name = \"x\"}, %w: " + type +
                 " {graph.role = \"parameter\", graph.name = \"w\"}) -> (" + type +
                 " {graph.role = \"output\", graph.name = \"y\"}) {\n" + body + "return " + last +
                 " : " + type + "\n}");
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  cluster::Cluster machine = *cluster::findCluster("h100-node");
  Costs costs(*model, machine, mesh);
  Pins pins;
  if (pinned >= 0)
    pins = *Pins::fromJson(R"({"pins": [{"op": ")" + model->ops[pinned].name +
                           R"(", "layout": [["dp"], []]}]})");
  PlanProblem problem = *buildProblem(costs, pins, int64_t(1) << 40);
  CHECK(problem.priced.size() == static_cast<size_t>(2 * layers));
  std::set<const void *> tables;
  for (const solver::Edge &edge : problem.network.edges)
    tables.insert(edge.cost.identity());
  CHECK(problem.network.nodes[2].choices.identity() == problem.network.nodes[4].choices.identity());
  return {problem.pricedCount, tables.size()};
}

TEST_CASE("ops and edges of layers that are alike are priced once") {
  CHECK(kindsOf(3) == kindsOf(30));
}

TEST_CASE("a rule for one op leaves the others alike") {
  CHECK(kindsOf(4, 3).first == kindsOf(40, 3).first);
  CHECK(kindsOf(4, 3).first == kindsOf(4).first + 1);
}

TEST_CASE("copies of values below a 256th of the budget take no memory") {
  GraphText text(kStep);
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  const Mesh mesh{{{"dp", 4}}};
  const cluster::Cluster machine = *cluster::findCluster("h100-node");
  Costs costs(*model, machine, mesh);
  auto usagesIn = [&](const Budget &budget) {
    const PlanProblem plan = *buildProblem(costs, {}, budget);
    size_t usages = 0;
    for (const solver::Node &node : plan.network.nodes)
      usages += node.usages.size();
    return usages;
  };
  int64_t largest = 0;
  for (const Value &value : model->values)
    largest = std::max(largest, value.bytes());
  const size_t without = usagesIn(int64_t(1) << 40);
  CHECK(usagesIn(256 * largest) > without);
  CHECK(usagesIn(257 * largest) == without);
}
