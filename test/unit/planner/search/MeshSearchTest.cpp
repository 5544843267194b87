// Layouts on the best of several meshes: which one is taken, and what is said of the others.
#include "compiler/planner/search/MeshSearch.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

static Result<SolvedLayouts> layoutsOf(const StepModel &model, TrialOptions options) {
  options.pins.prepare(model);
  const cluster::Cluster shared = *cluster::forRanks(h100Node(), options.ranks);
  return searchMeshes(model, shared, options);
}

TEST_CASE("of several meshes the best is taken, and no bound is above any of them") {
  const StepModel model = trainingModel(512, 1024, 4096);
  for (const Budget &budget : {Budget::unlimited(), Budget(24 << 20)}) {
    TrialOptions options;
    options.ranks = 16;
    options.budget = budget;
    const Result<SolvedLayouts> best = layoutsOf(model, options);
    REQUIRE(best);
    REQUIRE(best->tried.size() == candidateMeshes(16).size());
    CHECK(best->tried[best->chosen].isPlanned);
    double least = solver::kForbidden;
    for (const Mesh &mesh : candidateMeshes(16)) {
      options.mesh = mesh;
      const Result<SolvedLayouts> alone = layoutsOf(model, options);
      if (!alone)
        continue;
      least = std::min(least, alone->seconds);
      CHECK(best->boundSeconds <= alone->seconds * (1 + 1e-9));
    }
    CHECK(best->seconds == Approx(least).epsilon(1e-6));
    for (const TriedMesh &tried : best->tried) // the others are proven to be no better
      CHECK((tried.isPlanned || !tried.note.empty() || tried.seconds >= least * (1 - 1e-6)));
  }
}

TEST_CASE("axes of a mesh may be used together where single ones are no better") {
  TrialOptions options;
  options.ranks = 8;
  options.mesh = *Mesh::parse("x=2,y=2,z=2");
  options.choices.rounds = 0; // few choices on the mesh itself, so that a coarser one is faster
  const Result<SolvedLayouts> found = layoutsOf(trainingModel(512, 1024, 4096), options);
  REQUIRE(found);
  CHECK(found->parts == std::vector<std::vector<int>>{{0, 1, 2}});
  CHECK(found->tried.size() == 1); // coarser meshes are not reported
  CHECK(found->costs->mesh() == *options.mesh);
}

TEST_CASE("a search that must stop or beat a plan finds nothing otherwise") {
  const StepModel model = trainingModel(1 << 16, 1024, 4096);
  TrialOptions options;
  options.ranks = 4;
  const Result<SolvedLayouts> free = layoutsOf(model, options);
  REQUIRE(free);
  CHECK_FALSE(free->isBinding);
  options.cutoffSeconds = free->boundSeconds / 2;
  CHECK(layoutsOf(model, options).status().kind() == StatusKind::Infeasible);
  options.cutoffSeconds = solver::kForbidden;
  options.budget = free->memory.arena - 1;
  options.whenTooLarge = WhenTooLarge::Stop;
  CHECK(layoutsOf(model, options).status().kind() == StatusKind::Infeasible);
  options.whenTooLarge = WhenTooLarge::Search;
  const Result<SolvedLayouts> tight = layoutsOf(model, options);
  REQUIRE(tight);
  CHECK(tight->isBinding);
  CHECK(options.budget.holds(tight->memory.arena));
  CHECK(tight->seconds >= free->boundSeconds);
}
