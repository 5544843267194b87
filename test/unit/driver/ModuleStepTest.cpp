// The step of a module as the planner's search sees it.
#include "passes/driver/ModuleStep.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/PlannedStep.h"
#include "passes/driver/Compile.h"
#include "passes/driver/PlanModule.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::driver;

TEST_CASE(
    "copies have the recomputed ops of their policy, and plans the memory of their programs") {
  const ModelFile file(bundledCases()[1]);
  Compilation c(optionsOf(file.path(), bundledCases()[1], {1}));
  REQUIRE(compileTo(c, "primitive").isOk());
  const cluster::Cluster cluster = *cluster::forRanks(*cluster::findCluster("h100-node"), 1);
  const Result<ModuleStep> step = ModuleStep::read(c.module());
  REQUIRE(step);
  const size_t ops = step->model().ops.size();

  const planner::RematPolicy kept = planner::keepAll(step->model());
  Result<planner::PlannedStep> whole = planner::planWithPolicy(*step, kept, cluster, {});
  REQUIRE(whole);
  CHECK(whole->step->model().ops.size() == ops);

  const planner::RematPolicy full = planner::fullRecompute(step->model());
  Result<planner::PlannedStep> less = planner::planWithPolicy(*step, full, cluster, {});
  REQUIRE(less);
  CHECK(step->model().ops.size() == ops);
  CHECK(readModel(c.module())->ops.size() == ops);
  const auto count = std::ranges::count_if(less->step->model().ops, &planner::Op::isRecomputed);
  CHECK_FALSE(less->plan.recomputed.empty());
  CHECK(static_cast<size_t>(count) >= less->plan.recomputed.size()); // views are not listed
  CHECK(less->plan.peakBytes < whole->plan.peakBytes);

  const Result<planner::ProgramMemory> memory =
      less->step->memory(less->plan, cluster, planner::Budget::unlimited());
  REQUIRE(memory);
  CHECK(memory->peak == less->plan.peakBytes);
  const PlannedModule planned = plannedModule(std::move(*less));
  CHECK(planned.policy == full);
  CHECK(readModel(*planned.module)->ops.size() == planned.model.ops.size());
}
