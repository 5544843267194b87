#include "passes/driver/PlanFile.h"

#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/DescribePlan.h"
#include "passes/driver/Predict.h"
#include "passes/driver/Record.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/Units.h"

using namespace mlir;

#include <algorithm>

namespace cleave::driver {

Status recordHash(ModuleOp module) {
  std::optional<graph::SourceModel> model = graph::sourceModelOf(module);
  if (!model || !model->sha256.empty())
    return Status::ok();
  CLEAVE_TRY_ASSIGN(model->sha256, sha256OfFile(model->path));
  graph::setSourceModel(module, *model);
  return Status::ok();
}

// The further names of tied parameters.
static void addOtherNames(Compilation &c) {
  for (plan::Tensor &tensor : *c.plan.mutable_tensors())
    for (std::string &other : graph::otherNamesOf(c.module(), tensor.name()))
      tensor.add_other_names(std::move(other));
}

static Status addSource(Compilation &c) {
  CLEAVE_TRY(recordHash(c.module()));
  if (std::optional<graph::SourceModel> model = graph::sourceModelOf(c.module())) {
    c.plan.mutable_source()->set_path(model->path);
    c.plan.mutable_source()->set_bytes(model->bytes);
    c.plan.mutable_source()->set_sha256(model->sha256);
  }
  return Status::ok();
}

// Raises the FLOPs and the sent bytes to the values of this program if these are larger.
static void addWork(const plan::Program &program, plan::Plan &plan) {
  plan::Prediction &predicted = *plan.mutable_predicted();
  double flops = 0, sent = 0;
  std::vector<int64_t> runs = runsOf(program);
  for (int s = 0; s < program.segments_size(); ++s)
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      flops += runs[s] * artifact::flopsOf(program, instruction);
      if (instruction.has_collective())
        sent += runs[s] * artifact::sentBytes(plan, program, instruction.collective());
    }
  predicted.set_flops(std::max(predicted.flops(), flops));
  predicted.set_communication_bytes(
      std::max(predicted.communication_bytes(), static_cast<uint64_t>(sent)));
}

// Adds the seconds, bytes and FLOPs of the programs. The planner's numbers are added by Record.h.
static Status addPrediction(Compilation &c) {
  plan::Prediction &predicted = *c.plan.mutable_predicted();
  CLEAVE_TRY_ASSIGN(const StepSeconds seconds, secondsOfStep(c.plan));
  predicted.set_step_seconds(seconds.step);
  predicted.set_compute_seconds(seconds.compute);
  predicted.set_communication_seconds(seconds.communication);
  predicted.set_peak_bytes(0); // the planner knows the step alone
  for (const plan::Program &each : c.plan.programs())
    predicted.set_peak_bytes(std::max(predicted.peak_bytes(), each.arenas(0).bytes()));
  predicted.set_cluster(c.options.cluster);
  for (const plan::Program &program : c.plan.programs())
    if (program.kind() == plan::Program::STEP)
      addWork(program, c.plan);
  return Status::ok();
}

// What --dtype tf32 means for this plan.
static void addTf32Remark(Compilation &c) {
  if (graph::f32Products(c.module()) != "tf32")
    return;
  int64_t count = 0;
  for (const plan::Segment &segment : artifact::stepOf(c.plan, 0).segments())
    for (const plan::Instruction &instruction : segment.instructions())
      count += instruction.matmul().tf32() || instruction.convolution().tf32();
  const bool isForGpus = c.plan.device() == artifact::kCuda;
  addDecision(c.plan, "tf32", "remark", "",
              isForGpus ? concat(count, " instructions round factors of f32 to tf32; priced at ",
                                 countText(c.cluster->computeOf("f32").peakFlops, "FLOP"), "/s")
                        : "CPUs multiply factors of f32 in f32");
}

// The links between device memory and the other spaces.
static void setLinks(plan::Plan &plan, const cluster::Cluster &cluster) {
  for (plan::Program &program : *plan.mutable_programs())
    for (plan::Arena &arena : *program.mutable_arenas())
      if (arena.space() != plan::DEVICE) {
        const cluster::Link &link = cluster.linkTo(static_cast<Space>(arena.space()));
        arena.set_latency_seconds(link.latencySeconds);
        arena.set_bytes_per_second(link.bytesPerSecond);
      }
}

static void addRemarks(Compilation &c) {
  addTf32Remark(c);
  for (const Remark &remark : c.remarks)
    addDecision(c.plan, remark.kind, "remark", "", remark.text);
}

Status completePlan(Compilation &c) {
  c.plan.set_producer("cleave " CLEAVE_VERSION);
  c.plan.set_command_line(c.options.commandLine);
  c.plan.set_compile_options(c.options.compileOptions);
  c.plan.set_optimizer(graph::optimizerOf(c.module()));
  CLEAVE_TRY(addSource(c));
  addOtherNames(c);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  predictInstructions(c.plan, c.module(), shared);
  setLinks(c.plan, shared);
  addRecordedDecisions(c.module(), c.plan);
  CLEAVE_TRY(addPrediction(c));
  addRemarks(c);
  return Status::ok();
}

} // namespace cleave::driver
