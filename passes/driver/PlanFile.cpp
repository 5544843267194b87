#include "passes/driver/PlanFile.h"

#include "compiler/planner/FateRemarks.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/Predict.h"
#include "runtime/artifact/Flops.h"
#include "runtime/artifact/Modules.h"
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

static Status addSource(Compilation &c) {
  CLEAVE_TRY(recordHash(*c.module));
  if (std::optional<graph::SourceModel> model = graph::sourceModelOf(*c.module)) {
    c.plan.mutable_source()->set_path(model->path);
    c.plan.mutable_source()->set_bytes(model->bytes);
    c.plan.mutable_source()->set_sha256(model->sha256);
  }
  return Status::ok();
}

static uint64_t sentBytes(const plan::Program &program, const plan::Instruction &instruction) {
  uint64_t bytes = 0;
  if (instruction.has_collective())
    for (uint32_t buffer : instruction.collective().send())
      bytes += program.buffers(buffer).bytes();
  return bytes;
}

static void addPrediction(Compilation &c) {
  plan::Prediction &predicted = *c.plan.mutable_predicted();
  const planner::Plan &decided = c.decided;
  const plan::Program &program = c.plan.programs(0);
  const double seconds = secondsOfStep(program);
  predicted.set_step_seconds(seconds);
  predicted.set_planned_seconds(decided.seconds);
  predicted.set_bound_seconds(std::min(decided.boundSeconds, seconds));
  predicted.set_gap(decided.gap);
  predicted.set_peak_bytes(c.plan.programs(0).arenas(0).bytes());
  predicted.set_cluster(c.options.cluster);
  double flops = 0, compute = 0, communication = 0;
  uint64_t sent = 0;
  std::vector<int64_t> runs = runsOf(program);
  for (int s = 0; s < program.segments_size(); ++s)
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      flops += runs[s] * artifact::flopsOf(program, instruction);
      sent += runs[s] * sentBytes(program, instruction);
      (instruction.has_collective() ? communication : compute) += runs[s] * instruction.seconds();
    }
  predicted.set_flops(flops);
  predicted.set_communication_bytes(sent);
  predicted.set_compute_seconds(compute);
  predicted.set_communication_seconds(communication);
}

static plan::Decision &addDecision(Compilation &c, const std::string &name, const char *kind,
                                   const std::string &choice, const std::string &reason) {
  plan::Decision &decision = *c.plan.add_decisions();
  decision.set_name(name);
  decision.set_kind(kind);
  decision.set_choice(choice);
  decision.set_reason(reason);
  return decision;
}

static void addAlternative(plan::Decision &decision, const std::string &choice, double seconds) {
  plan::Alternative &alternative = *decision.add_alternatives();
  alternative.set_choice(choice);
  alternative.set_seconds(seconds);
}

static void addLayouts(Compilation &c) {
  for (const planner::Reason &reason : c.decided.reasons) {
    plan::Decision &decision = addDecision(c, reason.name, reason.kind.c_str(), reason.choice,
                                           planner::comparisonText(reason));
    decision.set_seconds(reason.seconds);
    if (!reason.alternative.empty())
      addAlternative(decision, reason.alternative, reason.alternativeSeconds);
  }
}

static void addFates(Compilation &c) {
  for (const planner::Repetition &again : c.decided.repetitions) {
    plan::Decision &decision = addDecision(c, again.name, "recompute", planner::choiceText(again),
                                           planner::reasonText(again, c.decided));
    decision.set_seconds(again.seconds);
    addAlternative(decision, "kept", -again.seconds);
  }
  for (const planner::KeptValue &value : c.decided.kept) {
    plan::Decision &decision = addDecision(c, value.name, "kept", planner::choiceText(value),
                                           planner::reasonText(value, c.decided));
    if (value.mayRunAgain)
      addAlternative(decision, "computed again", value.againSeconds);
  }
}

// What --dtype tf32 means for this plan.
static void addTf32Remark(Compilation &c) {
  if (graph::f32Products(*c.module) != "tf32")
    return;
  int64_t count = 0;
  for (const plan::Segment &segment : c.plan.programs(0).segments())
    for (const plan::Instruction &instruction : segment.instructions())
      count += instruction.matmul().tf32() || instruction.convolution().tf32();
  const bool isForGpus = c.plan.device() == artifact::kCuda;
  addDecision(c, "tf32", "remark", "",
              isForGpus ? concat(count, " instructions round factors of f32 to tf32; priced at ",
                                 countText(c.cluster->computeOf("f32").peakFlops, "FLOP"), "/s")
                        : "CPUs multiply factors of f32 in f32");
}

static void addRemarks(Compilation &c) {
  addTf32Remark(c);
  auto remark = [&](const std::string &name, const std::string &text) {
    addDecision(c, name, "remark", "", text);
  };
  for (const std::string &mesh : c.decided.meshesTried)
    remark("mesh", mesh);
  if (!c.decided.pin.empty())
    remark("pin", c.decided.pin);
  for (const planner::PlanRemark &text : c.decided.remarks)
    if (text.kind == "memory")
      remark(text.kind, text.text);
  for (const Remark &text : c.remarks)
    remark(text.kind, text.text);
}

static void addDecisions(Compilation &c) {
  addLayouts(c);
  addFates(c);
  for (const Variant &variant : c.variants)
    addDecision(c, variant.change, "what-if", variant.outcome, variant.detail)
        .set_seconds(variant.seconds);
  addRemarks(c);
}

Status completePlan(Compilation &c) {
  c.plan.set_producer("cleave " CLEAVE_VERSION);
  c.plan.set_command_line(c.options.commandLine);
  c.plan.set_optimizer(graph::optimizerOf(*c.module));
  CLEAVE_TRY(addSource(c));
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  mesh::MeshAttr mesh = mesh::meshOf(*c.module);
  predictInstructions(c.plan, shared, mesh ? mesh::toMesh(mesh) : Mesh(),
                      attentionKernels(*c.module));
  addPrediction(c);
  addDecisions(c);
  return Status::ok();
}

} // namespace cleave::driver
