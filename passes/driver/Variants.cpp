#include "passes/driver/Variants.h"

#include "compiler/cluster/Presets.h"
#include "dialects/graph/Step.h"
#include "passes/driver/Device.h"
#include "passes/driver/ModuleStep.h"
#include "passes/driver/PlanProgress.h"
#include "passes/shard/Plan.h"
#include "runtime/base/Units.h"

#include <cmath>

using namespace mlir;

namespace cleave::driver {

Status loadCluster(Compilation &c) {
  if (c.cluster)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(c.cluster, cluster::findCluster(c.options.cluster).withContext("--cluster"));
  auto rate = c.cluster->compute.find(graph::f32Products(c.module()).str());
  if (rate != c.cluster->compute.end())
    c.cluster->compute["f32"] = rate->second;
  return setDevice(c);
}

Result<planner::PlannerOptions> plannerOptions(const CompileOptions &options,
                                               const cluster::Cluster &cluster) {
  return shard::plannerOptions({.ranks = options.ranks,
                                .memory = options.memory,
                                .spaces = {.host = options.hostMemory, .file = options.fileMemory},
                                .mesh = options.mesh,
                                .pin = options.pin},
                               cluster);
}

Result<ModuleOp> Variants::moduleOf(const CompileOptions &options) {
  CLEAVE_TRY(loadCluster(c_));
  if (options.symbols == c_.options.symbols && options.accumulate == c_.options.accumulate)
    return c_.module();
  std::unique_ptr<Compilation> &other = others_[options.accumulate];
  if (!other) {
    CompileOptions plain = options;
    plain.dumpPhases.clear();
    auto next = std::make_unique<Compilation>(std::move(plain));
    CLEAVE_TRY(compileTo(*next, "primitive"));
    other = std::move(next);
  }
  return other->module();
}

Result<planner::Budget> Variants::budget(const CompileOptions &options) {
  CLEAVE_TRY(loadCluster(c_));
  return planner::budgetOf(options.memory, *c_.cluster, options.ranks);
}

Result<int64_t> Variants::nodeRanks() {
  CLEAVE_TRY(loadCluster(c_));
  return c_.cluster->isCpu ? 1 : c_.cluster->devicesPerNode;
}

planner::PlanMemory &Variants::memoryOf(const CompileOptions &options) {
  return memories_[{.symbols = options.symbols,
                    .accumulate = options.accumulate,
                    .ranks = options.ranks,
                    .hostMemory = options.hostMemory,
                    .fileMemory = options.fileMemory,
                    .mesh = options.mesh ? options.mesh->str() : "",
                    .pin = options.pin}];
}

Result<planner::PlanReport> Variants::plan(const CompileOptions &options) {
  CLEAVE_TRY_ASSIGN(const planner::Budget budget, this->budget(options));
  if (std::optional<Result<planner::PlanReport>> known = memoryOf(options).within(budget))
    return *std::move(known);
  CLEAVE_TRY_ASSIGN(PlannedModule planned, search(options));
  return std::move(planned.plan);
}

Result<PlannedModule> Variants::search(const CompileOptions &options) {
  CLEAVE_TRY_ASSIGN(ModuleOp module, moduleOf(options));
  CLEAVE_TRY_ASSIGN(planner::PlannerOptions planner, plannerOptions(options, *c_.cluster));
  showProgress(c_, "", planner);
  Result<PlannedModule> planned = planModule(module, *c_.cluster, planner);
  memoryOf(options).add(planner.budget, planned ? Result(planned->plan) : planned.status());
  return planned;
}

Status Variants::remember(const CompileOptions &options, const planner::PlanReport &plan) {
  CLEAVE_TRY_ASSIGN(const planner::Budget budget, this->budget(options));
  memoryOf(options).add(budget, plan);
  return Status::ok();
}

Result<planner::QuickPlan> Variants::quick(const CompileOptions &options) {
  CLEAVE_TRY_ASSIGN(ModuleOp module, moduleOf(options));
  CLEAVE_TRY_ASSIGN(planner::PlannerOptions planner, plannerOptions(options, *c_.cluster));
  CLEAVE_TRY_ASSIGN(const ModuleStep step, ModuleStep::read(module));
  return planner::quickPlan(step, *c_.cluster, std::move(planner));
}

Result<bool> Variants::pinsFitRanks(const CompileOptions &options) {
  CLEAVE_TRY(loadCluster(c_));
  CLEAVE_TRY_ASSIGN(const planner::PlannerOptions planner, plannerOptions(options, *c_.cluster));
  return planner::meshesToTry(planner).front().ranks() == options.ranks;
}

std::string comparedTo(double seconds, double other) {
  const double more = seconds / other - 1;
  if (std::abs(more) < 5e-4)
    return "the same time";
  return percentText(std::abs(more)) + (more > 0 ? " more time" : " less time");
}

std::string memoryText(int64_t bytes) {
  constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;
  const bool isSmall = bytes < 256 * kMiB;
  const int64_t unit = isSmall ? kKiB : kMiB;
  return std::to_string((bytes + unit - 1) / unit) + (isSmall ? "KiB" : "MiB");
}

} // namespace cleave::driver
