// Networks that keep the decisions of a plan.
#include "compiler/planner/network/Around.h"
#include "compiler/planner/network/ReadSolution.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("around a plan each op and argument keeps its choice, and no other is permitted") {
  const StepModel model = trainingModel(64, 256, 1024);
  const Mesh mesh = *Mesh::parse("dp=4");
  Costs costs(model, h100Node(), mesh);
  PlanProblem problem = *buildProblem(costs, {}, Budget::unlimited());
  std::vector<int> choices;
  for (const solver::Node &node : problem.network.nodes)
    choices.push_back(static_cast<int>(node.choices.size()) > 1);
  const PlanProblem free = problem;
  keepAround(problem, model, model, readSolution(costs, problem, choices));
  int kept = 0;
  auto check = [&](int node, size_t choice) {
    const solver::Node &now = problem.network.nodes[node], &before = free.network.nodes[node];
    for (size_t c = 0; c < now.choices.size(); ++c)
      CHECK(now.choices[c].cost == (c == choice ? before.choices[c].cost : solver::kForbidden));
    ++kept;
  };
  for (size_t i = 0; i < model.ops.size(); ++i)
    check(static_cast<int>(i), choices[i]);
  for (int node : problem.argumentNode)
    if (node >= 0)
      check(node, choices[node]);
  CHECK(kept > 15);
  for (const CopyNode &copy : problem.copies)
    CHECK(problem.network.nodes[copy.node] == free.network.nodes[copy.node]);
}

TEST_CASE("recomputed ops, and ops that the plan does not have, stay free") {
  StepModel model = trainingModel(64, 256, 1024);
  const Mesh mesh = *Mesh::parse("dp=4");
  Costs costs(model, h100Node(), mesh);
  PlanProblem problem = *buildProblem(costs, {}, Budget::unlimited());
  const PlanProblem free = problem;
  const Decisions plan =
      readSolution(costs, problem, std::vector<int>(problem.network.nodes.size(), 0));
  StepModel before = model;
  before.ops[3].name = "another op";
  model.ops[5].isRecomputed = true;
  keepAround(problem, model, before, plan);
  auto isFree = [&](int node) { return problem.network.nodes[node] == free.network.nodes[node]; };
  CHECK(isFree(3));
  CHECK(isFree(5));
  CHECK_FALSE(isFree(4));
  CHECK_FALSE(isFree(6));
}
