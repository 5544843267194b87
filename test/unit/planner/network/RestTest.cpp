// Dominance, lists and rests; plans from networks that list few choices.
#include "compiler/planner/network/Rest.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/Planner.h"
#include "compiler/planner/search/Refine.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

using Indices = std::vector<size_t>;

TEST_CASE("a choice is dominated by one of the same layouts that is neither slower nor larger") {
  const std::vector<solver::Choice> all = {{"", 3, {10, 10}}, {"", 1, {20, 5}}, {"", 2, {20, 6}},
                                           {"", 4, {1, 1}},   {"", 1, {20, 5}}, {"", 4, {1, 1}}};
  const LayoutNumbers alike(all.size(), {7, 8});
  CHECK(listChoices(all, alike, {}, 10).listed == Indices{0, 1, 3});
  LayoutNumbers different = alike;
  different[2] = {8, 7};
  CHECK(listChoices(all, different, {}, 10).listed == Indices{0, 1, 2, 3});
}

TEST_CASE("impossible choices are neither listed nor part of a rest") {
  const Listed list = listChoices({{"", solver::kForbidden, {1}}, {"", 2, {5}}, {"", 3, {4}}},
                                  {{1}, {2}, {3}}, {}, 1);
  CHECK(list.listed == Indices{1});
  CHECK(list.others == Indices{2});
}

TEST_CASE("a rest has the least seconds, bytes and layouts of all that it stands for") {
  // The first is listed, then the fastest, then the smallest.
  const std::vector<solver::Choice> all = {
      {"", 9, {9, 9}}, {"", 1, {7, 8}}, {"", 5, {6, 2}}, {"", 4, {3, 7}}, {"", 8, {0, 1}}};
  const LayoutNumbers layouts = {{0}, {1}, {2}, {1}, {3}};
  const Listed list = listChoices(all, layouts, {42}, 3);
  CHECK(list.listed == Indices{0, 1, 4});
  CHECK(list.others == Indices{2, 3});
  REQUIRE(list.priced.size() == 4);
  CHECK(list.priced[3] == solver::Choice{"rest", 4, {3, 2}});
  CHECK(list.rest.choice == 3);
  CHECK(list.rest.list == ListKey{42});
  const LayoutSet set = layoutsOf(list, layouts, 0);
  CHECK(set.ofChoice == std::vector<int>{0, 1, 2, 3});
  CHECK(set.alternatives() == std::vector<std::vector<int>>{{0}, {1}, {3}, {1, 2}});
  CHECK(set.all() == std::vector<int>{0, 1, 3, 2});
}

TEST_CASE("lists grow until the plan is the one of the full enumeration") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 8;
  options.mesh = *Mesh::parse("a=2,b=2,c=2");
  Result<Plan> all = planStep(model, *cluster::findCluster("h100-node"), options);
  options.choices = {.perOp = 4, .perArgument = 4, .rounds = 100};
  Result<Plan> grown = planStep(model, *cluster::findCluster("h100-node"), options);
  Result<Plan> again = planStep(model, *cluster::findCluster("h100-node"), options);
  options.choices.rounds = 0;
  Result<Plan> few = planStep(model, *cluster::findCluster("h100-node"), options);
  REQUIRE((all.isOk() && grown.isOk() && again.isOk() && few.isOk()));
  CHECK(grown->seconds == Approx(all->seconds).epsilon(1e-6));
  CHECK(grown->gap < 1e-6);
  CHECK(toJson(*grown, model) == toJson(*again, model));
  CHECK(few->boundSeconds <= all->seconds);
  CHECK(few->unlistedChoices > grown->unlistedChoices);
  // A limit on the size of networks ends the listing as well.
  options.choices = {.perOp = 4, .perArgument = 4, .rounds = 100, .maxEntries = 1};
  Result<Plan> limited = planStep(model, *cluster::findCluster("h100-node"), options);
  REQUIRE(limited.isOk());
  CHECK(limited->unlistedChoices == few->unlistedChoices);
  CHECK(limited->boundSeconds == few->boundSeconds);
}

// Wherever the cutoff lies: below the bound, between it and the best plan, or above.
TEST_CASE("a solution takes no rest, whatever the cutoff") {
  StepModel model = trainingModel(512, 1024, 4096);
  const cluster::Cluster cluster = *cluster::findCluster("h100-node");
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=2");
  Costs costs(model, cluster, mesh);
  const ChoiceLimits limits = {.perOp = 4, .perArgument = 4, .rounds = 2};
  auto solve = [&](double cutoff) {
    solver::SolveOptions options;
    options.cutoff = cutoff;
    Result<Refined> refined = solveRefining(costs, {}, Budget::unlimited(), limits, options);
    REQUIRE(refined.isOk());
    return std::move(*refined);
  };
  const Refined best = solve(solver::kForbidden);
  REQUIRE(best.others > 0);
  int beaten = 0;
  for (double share : {0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 2.0, 4.0}) {
    const double cutoff = best.solution.lowerBound * share;
    const Refined refined = solve(cutoff);
    beaten += refined.isBeaten;
    if (!refined.solution.isFound())
      CHECK(refined.solution.lowerBound >= cutoff);
    else
      for (const auto &[node, rest] : refined.problem.rests)
        CHECK(refined.solution.choices[node] != rest.choice);
  }
  CHECK(beaten > 0);
}
