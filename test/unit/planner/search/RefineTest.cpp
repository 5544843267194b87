// Networks that list few choices, and more where a solution takes a rest.
#include "compiler/planner/search/Refine.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("lists grow until the plan is the one of the full enumeration") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 8;
  options.mesh = *Mesh::parse("a=2,b=2,c=2");
  Result<PlanReport> all = planStep(model, h100Node(), options);
  options.choices = {.perOp = 4, .perArgument = 4, .rounds = 100};
  Result<PlanReport> grown = planStep(model, h100Node(), options);
  Result<PlanReport> again = planStep(model, h100Node(), options);
  options.choices.rounds = 0;
  Result<PlanReport> few = planStep(model, h100Node(), options);
  REQUIRE((all.isOk() && grown.isOk() && again.isOk() && few.isOk()));
  CHECK(grown->seconds == Approx(all->seconds).epsilon(1e-6));
  CHECK(grown->gap < 1e-6);
  CHECK(toJson(*grown, model) == toJson(*again, model));
  CHECK(few->boundSeconds <= all->seconds);
  CHECK(few->unlistedChoices > grown->unlistedChoices);
  // A limit on the size of networks ends the listing as well.
  options.choices = {.perOp = 4, .perArgument = 4, .rounds = 100, .maxEntries = 1};
  Result<PlanReport> limited = planStep(model, h100Node(), options);
  REQUIRE(limited.isOk());
  CHECK(limited->unlistedChoices == few->unlistedChoices);
  CHECK(limited->boundSeconds == few->boundSeconds);
}

// Wherever the cutoff lies: below the bound, between it and the best plan, or above.
TEST_CASE("a solution takes no rest, whatever the cutoff") {
  StepModel model = trainingModel(512, 1024, 4096);
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=2");
  Costs costs(model, h100Node(), mesh);
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
