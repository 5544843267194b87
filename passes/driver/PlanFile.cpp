#include "passes/driver/PlanFile.h"

#include "dialects/graph/Provenance.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/Predict.h"
#include "runtime/artifact/Flops.h"
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

static void addDecisions(Compilation &c) {
  for (const planner::Reason &reason : c.decided.reasons) {
    plan::Decision &decision = *c.plan.add_decisions();
    decision.set_name(reason.name);
    decision.set_kind(reason.kind);
    decision.set_choice(reason.choice);
    decision.set_seconds(reason.seconds);
    decision.set_reason(planner::comparisonText(reason));
    if (reason.alternative.empty())
      continue;
    plan::Alternative &alternative = *decision.add_alternatives();
    alternative.set_choice(reason.alternative);
    alternative.set_seconds(reason.alternativeSeconds);
  }
  for (const planner::Repetition &again : c.decided.repetitions) {
    plan::Decision &decision = *c.plan.add_decisions();
    decision.set_name(again.name);
    decision.set_kind("recompute");
    decision.set_choice(concat(bytesText(again.bytes), " not kept"));
    decision.set_seconds(again.seconds);
    decision.set_reason("computed again in the backward pass, so that less memory is needed");
  }
  auto remark = [&](const std::string &name, const std::string &text) {
    plan::Decision &decision = *c.plan.add_decisions();
    decision.set_name(name);
    decision.set_kind("remark");
    decision.set_reason(text);
  };
  for (const std::string &mesh : c.decided.meshesTried)
    remark("mesh", mesh);
  if (!c.decided.pin.empty())
    remark("pin", c.decided.pin);
  for (const Remark &text : c.remarks)
    remark(text.kind, text.text);
}

Status completePlan(Compilation &c) {
  c.plan.set_producer("cleave " CLEAVE_VERSION);
  c.plan.set_command_line(c.options.commandLine);
  c.plan.set_optimizer(graph::optimizerOf(*c.module));
  CLEAVE_TRY(addSource(c));
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  mesh::MeshAttr mesh = mesh::meshOf(*c.module);
  predictInstructions(c.plan, shared, mesh ? mesh::toMesh(mesh) : Mesh());
  addPrediction(c);
  addDecisions(c);
  return Status::ok();
}

} // namespace cleave::driver
