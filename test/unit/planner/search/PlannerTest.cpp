// The planner as a whole: plans, bounds, messages.
#include "compiler/planner/search/Planner.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

static Result<PlanReport> planOn(const StepModel &model, TrialOptions options) {
  return planStep(model, *cluster::findCluster("h100-node"), options);
}

TEST_CASE("the answer lies between its bound and any recipe") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  Result<PlanReport> best = planOn(model, options);
  REQUIRE(best.isOk());
  CHECK(best->boundSeconds <= best->seconds);
  CHECK(best->gap >= 0);
  CHECK(best->peakBytes > 0);
  for (const char *pin : {"dp", "zero1", "zero2", "zero3", "megatron"}) {
    options.pins = *Pins::parse(pin);
    Result<PlanReport> pinned = planOn(model, options);
    REQUIRE(pinned.isOk());
    CHECK(pinned->pin == pin);
    CHECK(pinned->seconds >= best->boundSeconds);
  }
}

TEST_CASE("one rank has nothing to decide") {
  StepModel model = trainingModel(64, 256, 1024);
  Result<PlanReport> plan = planOn(model, {});
  REQUIRE(plan.isOk());
  for (const ArgumentDecision &argument : plan->arguments)
    CHECK(argument.storage.isReplicated());
  CHECK(plan->gap < 1e-6);
}

TEST_CASE("with less memory the plan splits long-lived values") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  Result<PlanReport> free = planOn(model, options);
  REQUIRE(free.isOk());
  // Two weights with two moments each: 96 MiB if every rank holds all of them.
  options.budget = 60 << 20;
  Result<PlanReport> tight = planOn(model, options);
  INFO((tight.isOk() ? "" : tight.status().message()));
  REQUIRE(tight.isOk());
  CHECK(options.budget.holds(tight->peakBytes));
  CHECK(tight->seconds >= free->boundSeconds);
}

TEST_CASE("a step that does not fit is refused with numbers") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 2;
  options.budget = 1 << 20;
  Result<PlanReport> plan = planOn(model, options);
  REQUIRE(!plan.isOk());
  CHECK(plan.status().kind() == StatusKind::Infeasible);
  CHECK_THAT(plan.status().message(),
             Catch::StartsWith("no plan fits into 1.00 MiB per rank on 2 ranks: the "
                               "smallest found needs ") &&
                 Catch::Contains(" (--memory ") &&
                 Catch::Contains(" more; largest at that point: "));
  TrialOptions trial = options;
  trial.proven = Proven{0, {}}; // a bound on steps with other policies too: these may fit
  CHECK_THAT(planOn(model, trial).status().message(),
             Catch::StartsWith("no plan was found that fits into 1.00 MiB") &&
                 !Catch::Contains("none needs less"));
}

TEST_CASE("mesh and ranks must agree") {
  StepModel model = trainingModel(8, 4, 16);
  PlannerOptions options;
  options.ranks = 4;
  options.mesh = *Mesh::parse("dp=2");
  CHECK(planOn(model, options).status().message() ==
        "the mesh dp=2 has 2 ranks, but 4 were asked for: make --mesh and --ranks agree");
}

TEST_CASE("the sizes of a recipe must divide the ranks") {
  StepModel model = trainingModel(8, 4, 16);
  PlannerOptions options;
  options.ranks = 4;
  options.pins = *Pins::parse("fsdp+tp:3");
  CHECK_THAT(planOn(model, options).status().message(),
             Catch::Contains("the sizes in --pin fsdp+tp:3 make the mesh"));
}

TEST_CASE("the same question gets the same answer") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  CHECK(toJson(*planOn(model, options), model) == toJson(*planOn(model, options), model));
}

TEST_CASE("a mesh that the planner chose is named by what the plan splits, a given one is not") {
  const std::pair<int64_t, const char *> cases[] = {{512, "tp=4"}, {1 << 16, "dp=4"}}; // samples
  for (const auto &[samples, mesh] : cases) {
    const StepModel model = trainingModel(samples, 1024, 4096);
    PlannerOptions options;
    options.ranks = 4;
    const Result<PlanReport> chosen = planOn(model, options);
    options.mesh = *Mesh::parse("a=4");
    const Result<PlanReport> given = planOn(model, options);
    REQUIRE((chosen && given));
    CHECK(chosen->mesh.str() == mesh);
    CHECK(given->mesh.str() == "a=4");
    CHECK(given->ops == chosen->ops);
    CHECK(given->arguments == chosen->arguments);
    for (const Reason &reason : chosen->reasons)
      CHECK_THAT(reason.choice, !Catch::Contains("x"));
  }
}

TEST_CASE("axes that a plan takes together are named like all others") {
  PlannerOptions options;
  options.ranks = 8;
  options.mesh = *Mesh::parse("x=2,y=2,z=2");
  options.isOwnMesh = true;
  options.choices.rounds = 0; // few choices on the mesh itself, so that a coarser one is faster
  const Result<PlanReport> plan = planOn(trainingModel(512, 1024, 4096), options);
  REQUIRE(plan.isOk());
  CHECK(plan->mesh.str() == "tp1=2,tp2=2,tp3=2");
  REQUIRE(plan->meshesTried.size() == 1);
  CHECK(plan->meshesTried[0].mesh == plan->mesh);
  CHECK(plan->meshesTried[0].note == "chosen, with axes together as in tp1+tp2+tp3=8");
}
