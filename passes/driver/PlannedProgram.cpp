// See PlannedProgram.h.
#include "passes/driver/PlannedProgram.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/driver/Diagnostics.h"
#include "passes/fuse/Fuse.h"
#include "passes/schedule/Bucket.h"
#include "passes/schedule/Order.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/Partition.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace cleave::driver {

void tidy(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  LogicalResult result = passes.run(module);
  assert(succeeded(result) && "canonicalization and CSE do not fail");
  (void)result;
}

LogicalResult partitionStep(ModuleOp module, const cluster::Cluster &cluster) {
  if (failed(shard::partition(graph::stepOf(module), cluster)))
    return failure();
  tidy(module);
  func::FuncOp step = graph::stepOf(module);
  fuse::separateIotasInGroups(step);
  schedule::bucketReductions(step);
  // Groups of the ops that partitioning added. Formed after the buckets, so that a group that reads
  // one reduction and feeds another does not keep these two out of one bucket.
  fuse::formGroups(step);
  schedule::orderParts(step);
  return success();
}

Result<planner::ProgramMemory> memoryOf(ModuleOp module, const planner::Decisions &decisions,
                                        const cluster::Cluster &cluster) {
  OwningOpRef<ModuleOp> copy = module.clone();
  DiagnosticText diagnostics(*module.getContext());
  shard::annotate(graph::stepOf(*copy), decisions);
  FailureOr<bufferize::ArenaSizes> sizes = failure();
  if (succeeded(partitionStep(*copy, cluster)))
    sizes = bufferize::bufferize(*copy);
  if (failed(sizes))
    return Status::defect(diagnostics.text()).withContext("memory of a plan");
  return planner::ProgramMemory{.peak = sizes->peak, .arena = sizes->arena};
}

} // namespace cleave::driver
