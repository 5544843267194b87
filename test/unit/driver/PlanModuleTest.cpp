// Decisions on the step of a module, with the module that they are for.
#include "passes/driver/PlanModule.h"

#include "compiler/cluster/Presets.h"
#include "passes/driver/Compile.h"
#include "passes/driver/ModuleStep.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::driver;

TEST_CASE("a step that fits stays as it is, and one that does not has recomputed ops") {
  const ModelFile file(bundledCases()[1]);
  Compilation c(optionsOf(file.path(), bundledCases()[1], {1}));
  REQUIRE(compileTo(c, "primitive").isOk());
  const cluster::Cluster cluster = *cluster::findCluster("h100-node");
  const size_t ops = readModel(c.module())->ops.size();
  planner::PlannerOptions options;
  const Result<PlannedModule> whole = planModule(c.module(), cluster, options);
  REQUIRE(whole);
  CHECK(whole->model.ops.size() == ops);
  CHECK(whole->recomputation.empty());

  options.budget = whole->plan.arenaBytes * 9 / 10;
  const Result<PlannedModule> less = planModule(c.module(), cluster, options);
  REQUIRE(less);
  CHECK(options.budget.holds(less->plan.arenaBytes));
  CHECK(std::ranges::count(less->policy.recomputed, true) > 0);
  CHECK(less->model.ops.size() > ops);
  CHECK(less->plan.ops.size() == less->model.ops.size());
  CHECK(readModel(*less->module)->ops.size() == less->model.ops.size());
  CHECK_FALSE(less->recomputation.empty());
  CHECK(readModel(c.module())->ops.size() == ops); // the module itself stays
}
