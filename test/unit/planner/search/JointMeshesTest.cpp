// Bounds on layouts and recomputation together, on all meshes.
#include "compiler/planner/search/JointMeshes.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

std::vector<JointMesh> meshesIn(const StepModel &model, PlannerOptions options,
                                const Budget &budget) {
  options.budget = budget;
  Result<std::vector<JointMesh>> meshes =
      jointMeshes(model, h100Node(), options, PinnedRemat(model.ops.size()));
  INFO(meshes.status().message());
  REQUIRE(meshes.isOk());
  return std::move(*meshes);
}

} // namespace

TEST_CASE("every mesh is bounded, the lowest bound comes first, and no plan is below its mesh's") {
  const StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 8;
  const Result<PlanReport> free = planStep(model, h100Node(), options);
  REQUIRE(free.isOk());
  const Budget budget = free->peakBytes * 3 / 4;
  const std::vector<JointMesh> meshes = meshesIn(model, options, budget);
  CHECK(meshes.size() == meshesToTry(options).size());
  CHECK(std::is_sorted(meshes.begin(), meshes.end(), [](const JointMesh &a, const JointMesh &b) {
    return a.boundSeconds < b.boundSeconds;
  }));
  CHECK(meshes.front().boundSeconds < meshes.back().boundSeconds);
  for (const JointMesh &joint : meshes) {
    CHECK(joint.boundSeconds > 0);
    PlannerOptions alone = options;
    alone.mesh = joint.mesh;
    alone.budget = budget;
    if (const Result<PlanReport> plan = planStep(model, h100Node(), alone))
      CHECK(joint.boundSeconds <= plan->seconds * (1 + 1e-9));
    REQUIRE(joint.base);
    CHECK(joint.base->mesh == joint.mesh);
    CHECK(joint.base->ops.size() == model.ops.size());
    CHECK_FALSE(joint.base->holdings.empty());
    Costs costs(model, h100Node(), joint.mesh);
    CHECK(joint.base->seconds == secondsOf(costs, *joint.base));
  }
}

TEST_CASE("a mesh on which no plan fits is proven to have none") {
  const StepModel model = modelOf(deepStep(5, 64, 32));
  PlannerOptions options;
  options.ranks = 4;
  for (const JointMesh &mesh : meshesIn(model, options, 1024))
    CHECK(mesh.boundSeconds == solver::kForbidden);
}

TEST_CASE("the picked layouts fit with their policy, or else exceed the budget least") {
  const StepModel model = modelOf(deepStep(9, 64, 16));
  const PinnedRemat free(model.ops.size());
  PlannerOptions options;
  const PlanReport whole = plannedBy(model, "", 1);
  for (int64_t budget : {whole.peakBytes * 3 / 4, int64_t(1)}) {
    options.budget = budget;
    const std::vector<JointMesh> meshes = meshesIn(model, options, budget);
    const Result<std::optional<Base>> base = chooseBase(meshes, model, h100Node(), options, free);
    REQUIRE(base);
    REQUIRE(*base);
    CHECK((*base)->plan == &*meshes[0].base);
    CHECK((*base)->chosen.isFitting == (budget > 1));
    CHECK((*base)->seconds() > (*base)->plan->seconds);
    if (budget > 1)
      CHECK((*base)->seconds() >= meshes[0].boundSeconds * (1 - 1e-9));
  }
  CHECK_FALSE(chooseBase({}, model, h100Node(), options, free)->has_value());
}

TEST_CASE("a policy is chosen on the three meshes with the lowest bounds") {
  const StepModel model = modelOf(deepStep(9, 64, 16));
  const PinnedRemat free(model.ops.size());
  PlannerOptions options;
  options.budget = plannedBy(model, "", 1).peakBytes * 3 / 4;
  const JointMesh mesh = meshesIn(model, options, options.budget)[0];
  for (size_t fastest : {2, 3}) {
    std::vector<JointMesh> meshes(5, mesh);
    for (JointMesh &each : meshes)
      each.boundSeconds = 0;
    meshes[fastest].base->seconds /= 2;
    const Result<std::optional<Base>> base = chooseBase(meshes, model, h100Node(), options, free);
    REQUIRE((base && *base));
    CHECK(((*base)->plan == &*meshes[fastest].base) == (fastest < 3));
  }
}
