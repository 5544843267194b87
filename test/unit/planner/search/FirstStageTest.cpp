// Bounds on the plans of a pipeline by its first stage.
#include "compiler/planner/search/FirstStage.h"
#include "compiler/planner/search/SearchPlan.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("meshes come in the order of their seconds, and no plan is below the bound") {
  const StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 8;
  FirstStage first(model, h100Node(), options);
  CHECK(first.bound() == 0);
  const Result<std::vector<Mesh>> meshes = first.meshes();
  REQUIRE(meshes);
  CHECK(meshes->size() == meshesToTry(options).size());
  CHECK(first.bound() > 0);
  std::vector<double> seconds;
  for (const Mesh &mesh : *meshes) {
    options.mesh = mesh;
    const Result<PlanReport> plan = planStep(model, h100Node(), options);
    REQUIRE(plan);
    seconds.push_back(plan->seconds);
    CHECK(first.bound() <= plan->seconds * (1 + 1e-9));
  }
  CHECK(seconds[0] == Approx(std::ranges::min(seconds)).epsilon(1e-3));
}

TEST_CASE("a mesh that is asked for is the only one") {
  PlannerOptions options;
  options.ranks = 8;
  options.mesh = *Mesh::parse("a=8");
  FirstStage first(trainingModel(512, 1024, 4096), h100Node(), options);
  const Result<std::vector<Mesh>> meshes = first.meshes();
  REQUIRE(meshes);
  CHECK(meshes->size() == 1);
}

TEST_CASE("a mesh is worth a search unless its bound reaches the best plan's seconds") {
  const StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 8;
  FirstStage first(model, h100Node(), options);
  const Result<std::vector<Mesh>> meshes = first.meshes();
  REQUIRE(meshes);
  CHECK(first.mayBeFasterOn((*meshes)[0], 10));
  CHECK_FALSE(first.mayBeFasterOn((*meshes)[0], first.bound() / 2));
}

TEST_CASE("where memory binds, the bound rises, and stays below the plan that is found") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  const int64_t whole = peakOf(step.model());
  const double free = searchPlan(step, h100Node(), onOneRank(whole))->plan.seconds;
  const PlannerOptions options = onOneRank(whole - 6 * kActivation);
  FirstStage first(step.model(), h100Node(), options);
  const double bound = first.boundWithin();
  const Result<PlannedStep> found = searchPlan(step, h100Node(), options);
  REQUIRE(found);
  CHECK(bound > free);
  CHECK(bound <= found->plan.seconds * (1 + 1e-9));
  const Mesh mesh = found->plan.mesh;
  CHECK_FALSE(first.mayBeFasterOn(mesh, bound));
  CHECK(first.mayBeFasterOn(mesh, 2 * found->plan.seconds));
}
