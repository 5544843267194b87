// See Stages.h.
#include "passes/driver/Stages.h"

#include "dialects/graph/Messages.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/DecideStep.h"
#include "passes/driver/DescribePlan.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/Record.h"
#include "passes/driver/Variants.h"
#include "passes/driver/WaysOut.h"
#include "passes/shard/Annotate.h"
#include "passes/stage/Actions.h"
#include "passes/stage/Split.h"
#include "runtime/base/Units.h"

#include <algorithm>

using namespace mlir;

namespace cleave::driver {

Status checkStages(const CompileOptions &options) {
  if (options.stages == 1)
    return options.schedule.empty()
               ? Status::ok()
               : Status::userError("--schedule orders the micro-batches of stages; it needs "
                                   "--stages of more than one");
  if (options.stages < 1)
    return Status::userError("--stages: found ", options.stages, ", expected a number above 0");
  if (!options.train)
    return Status::userError("--stages is given without --train: only training steps have stages");
  const std::pair<const char *, bool> given[] = {
      {"--eval", options.evaluate},
      {"--ranks least", options.leastRanks},
      {"--memory least", options.leastMemory},
      {"--what-if", options.whatIf},
      {"--pareto", !options.pareto.empty()},
      {"--problem", !options.problem.empty()},
      {"--solution", !options.solution.empty()},
      {"--start-from", !options.startFrom.empty()},
      {"--micro-batch auto", options.microBatch == "auto"}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      return Status::userError("--stages cannot be combined with ", name,
                               " yet; leave one of both out");
  if (options.ranks != options.stages)
    return Status::userError("--stages ", options.stages, ": found --ranks ", options.ranks,
                             ", expected as many ranks as stages; stages of several ranks cannot "
                             "be planned yet");
  return Status::ok();
}

Result<stage::CutCosts> cutCosts(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  const cluster::Link &link =
      c.cluster->levels.front().link(CollectiveKind::Send, c.options.stages);
  return stage::CutCosts{.secondsPerFlop = 1 / c.cluster->computeOf(c.options.dtype).peakFlops,
                         .secondsPerByte = 1 / link.bytesPerSecond};
}

// The name of the schedule.
static std::string scheduleOf(const CompileOptions &options) {
  return options.schedule.empty() ? "1f1b" : options.schedule;
}

Status splitStages(Compilation &c) {
  DiagnosticText diagnostics(*c.context);
  auto modules = stage::splitIntoStages(c.module(), c.options.stages);
  if (failed(modules))
    return Status::userError(diagnostics.text()).withContext("--stages");
  CLEAVE_TRY_ASSIGN(const auto schedules,
                    stage::actionsOf(scheduleOf(c.options), c.options.stages, c.options.accumulate)
                        .withContext("--schedule"));
  c.units.clear();
  for (auto [module, schedule] : llvm::zip_equal(*modules, schedules)) {
    graph::setSchedule(*module, schedule);
    c.units.push_back({plan::Program::STEP, std::move(module)});
  }
  return Status::ok();
}

// Adds what was decided on a stage. The seconds and the bound are those of the slowest stage, the
// work is that of all.
static void addStage(const plan::Plan &stage, plan::Plan &all) {
  plan::Prediction &sum = *all.mutable_predicted();
  const plan::Prediction before = sum;
  if (stage.predicted().planned_seconds() > sum.planned_seconds())
    sum = stage.predicted();
  sum.set_peak_bytes(std::max(before.peak_bytes(), stage.predicted().peak_bytes()));
  sum.set_model_flops(before.model_flops() + stage.predicted().model_flops());
  sum.set_peak_seconds(before.peak_seconds() + stage.predicted().peak_seconds());
  const bool isFirst = all.decisions().empty();
  for (const plan::Decision &decision : stage.decisions())
    if (isFirst || (decision.kind() != "mesh" && decision.kind() != "axis"))
      *all.add_decisions() = decision;
}

Status planStages(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  // The ranks of all stages share a machine's memory and cores.
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  CompileOptions options = c.options;
  options.ranks = c.options.ranks / c.options.stages;
  plan::Plan described;
  planner::Plan slowest;
  std::string peaks;
  for (auto [i, unit] : llvm::enumerate(c.units)) {
    const std::string name = unit.name();
    CLEAVE_TRY_ASSIGN(planner::PlannerOptions asked, plannerOptions(options, shared));
    Result<Decided> decided = decideStep(*unit.module, shared, asked);
    CLEAVE_TRY(decided.status().withContext(name));
    shard::annotate(graph::stepOf(*decided->module), decided->plan);
    unit.module = std::move(decided->module);
    if (!decided->recomputation.empty())
      c.remarks.push_back({"recompute", name + ": " + decided->recomputation});
    c.decided = std::move(decided->plan);
    c.stagePeaks.push_back(c.decided.peakBytes);
    peaks += concat(i ? ", " : "", bytesText(c.decided.peakBytes));
    plan::Plan own;
    CLEAVE_TRY(describePlan(c, decided->model, own));
    addStage(own, described);
    if (i == 0 || c.decided.seconds > slowest.seconds)
      slowest = c.decided;
  }
  c.decided = std::move(slowest);
  c.remarks.push_back({"stages", concat(c.options.stages, " stages, ", scheduleOf(c.options),
                                        "; their ranks need ", peaks)});
  recordDecisions(c.module(), described);
  return Status::ok();
}

void addStageAxis(Compilation &c) {
  for (Unit &unit : c.units) {
    Mesh mesh;
    if (mesh::MeshAttr attr = mesh::meshOf(*unit.module))
      mesh = mesh::toMesh(attr);
    mesh.axes.insert(mesh.axes.begin(), {mesh::kStages.str(), c.options.stages});
    (*unit.module)->setAttr(mesh::kMesh, mesh::toAttribute(mesh, c.context.get()));
  }
}

} // namespace cleave::driver
