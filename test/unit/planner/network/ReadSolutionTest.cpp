// From choices of a network to decisions.
#include "compiler/planner/network/ReadSolution.h"
#include "compiler/planner/choices/LayoutChanges.h"
#include "test/unit/planner/RandomStep.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a plan states the copies that its network chose") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlanReport plan = plannedBy(model, "zero3", 4);
  Costs costs(model, h100Node(), plan.mesh);
  std::set<std::pair<int, Part>> seen;
  for (const CopyDecision &copy : plan.copies)
    CHECK(seen.insert({copy.value, copy.part}).second);
  CHECK(std::is_sorted(plan.copies.begin(), plan.copies.end(),
                       [](const auto &a, const auto &b) { return a.value < b.value; }));
  for (const LayoutChange &change : layoutChanges(model, plan))
    CHECK(costs.reshard(change.value, change.from, change.to) < solver::kForbidden);
}

TEST_CASE("decisions are those of the choices of their nodes") {
  std::mt19937 random(3);
  for (int k = 0; k < 6; ++k) {
    const StepModel model = k < 2 ? trainingModel(64, 256, 1024) : randomStep(2, 2, random);
    const Mesh mesh = *Mesh::parse("dp=2,tp=2");
    Costs costs(model, h100Node(), mesh);
    const PlanProblem problem = *buildProblem(costs, {}, Budget::unlimited());
    // Any choice that is listed; the rests of nodes stand for others.
    std::vector<int> choices(problem.network.nodes.size(), 0);
    auto choose = [&](int node, size_t count) {
      choices[node] = static_cast<int>(random() % count);
    };
    for (size_t i = 0; i < model.ops.size(); ++i)
      choose(static_cast<int>(i), problem.choicesOf(static_cast<int>(i)).size());
    for (size_t a = 0; a < model.arguments.size(); ++a)
      if (problem.argumentNode[a] >= 0)
        choose(problem.argumentNode[a], problem.argumentChoices[a].size());
    for (const CopyNode &copy : problem.copies)
      choose(copy.node, copy.layouts.size());
    const Decisions decisions = readSolution(costs, problem, choices);
    REQUIRE(decisions.ops.size() == model.ops.size());
    for (size_t i = 0; i < model.ops.size(); ++i) {
      const OpChoice &choice = problem.choicesOf(static_cast<int>(i))[choices[i]];
      CHECK(decisions.ops[i].factors == choice.factors);
      CHECK(decisions.ops[i].partial == choice.partial);
      CHECK(decisions.ops[i].results == choice.results);
    }
    for (size_t a = 0; a < model.arguments.size(); ++a)
      if (const int node = problem.argumentNode[a]; node >= 0) {
        const ArgumentChoice &choice = problem.argumentChoices[a][choices[node]];
        CHECK(decisions.arguments[a] ==
              ArgumentDecision{choice.storage, choice.compute, choice.staysGathered});
      } else {
        CHECK(decisions.arguments[a].storage == decisions.arguments[a].compute);
      }
    REQUIRE(decisions.copies.size() == problem.copies.size());
    for (size_t c = 0; c < problem.copies.size(); ++c)
      CHECK(decisions.copies[c].layout ==
            problem.copies[c].layouts[choices[problem.copies[c].node]]);
  }
}
