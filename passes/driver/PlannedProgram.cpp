// See PlannedProgram.h.
#include "passes/driver/PlannedProgram.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/driver/Diagnostics.h"
#include "passes/fuse/Fuse.h"
#include "passes/schedule/Bucket.h"
#include "passes/schedule/Order.h"
#include "passes/shard/NarrowGathers.h"
#include "passes/shard/Partition.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace cleave::driver {

void tidy(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // phases are verified as a whole
  GreedyRewriteConfig config;   // no region has several blocks
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass(config));
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  LogicalResult result = passes.run(module);
  assert(succeeded(result) && "canonicalization and CSE do not fail");
  (void)result;
}

// Brings the ops of a partitioned step into the form and the order in which they run.
static void prepare(ModuleOp module) {
  tidy(module);
  func::FuncOp step = graph::stepOf(module);
  shard::narrowGathers(step);
  fuse::separateIotasInGroups(step);
  schedule::bucketReductions(step);
  // Groups of the ops that partitioning added. Formed after the buckets, so that a group that reads
  // one reduction and feeds another does not keep these two out of one bucket.
  fuse::formGroups(step);
  schedule::orderParts(step);
}

LogicalResult partitionStep(ModuleOp module, const cluster::Cluster &cluster) {
  if (failed(shard::partition(graph::stepOf(module), cluster)))
    return failure();
  prepare(module);
  return success();
}

Result<planner::ProgramMemory> memoryOf(ModuleOp module, const planner::StepModel &model,
                                        const planner::Decisions &decisions,
                                        const cluster::Cluster &cluster,
                                        const planner::Budget &budget) {
  OwningOpRef<ModuleOp> copy = module.clone();
  DiagnosticText diagnostics(*module.getContext());
  shard::partition(graph::stepOf(*copy), model, decisions, cluster);
  prepare(*copy);
  FailureOr<bufferize::ArenaSizes> sizes = bufferize::bufferize(
      *copy, budget.isLimited() ? std::optional(budget.bytes()) : std::nullopt);
  if (failed(sizes))
    return Status::defect(diagnostics.text()).withContext("memory of a plan");
  return planner::ProgramMemory{
      .peak = sizes->peak, .arena = sizes->arena, .host = sizes->host, .file = sizes->file};
}

} // namespace cleave::driver
