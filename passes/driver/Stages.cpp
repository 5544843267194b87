// See Stages.h.
#include "passes/driver/Stages.h"

#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/model/Batch.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/search/FirstStage.h"
#include "compiler/schedule/pipelines/Csv.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Stage.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/AlikeStages.h"
#include "passes/driver/DescribePlan.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/Evaluation.h"
#include "passes/driver/ModuleStep.h"
#include "passes/driver/PlanModule.h"
#include "passes/driver/PlanProgress.h"
#include "passes/driver/Record.h"
#include "passes/driver/Variants.h"
#include "passes/driver/WaysOut.h"
#include "passes/shard/Annotate.h"
#include "passes/stage/Actions.h"
#include "passes/stage/Cut.h"
#include "passes/stage/Split.h"
#include "runtime/base/RegularFile.h"
#include "runtime/base/Units.h"

#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace cleave::driver {

Status checkStages(const CompileOptions &options) {
  if (options.stages == 1 && !options.autoStages)
    return options.schedule.empty() && options.chunks == 0 && options.cut.empty()
               ? Status::ok()
               : Status::userError("--schedule, --chunks and --cut say how stages divide the model "
                                   "and run micro-batches; they need --stages of more than one");
  if (options.chunks < 0)
    return Status::userError("--chunks: found ", options.chunks, ", expected a number above 0");
  if (options.schedule == "auto" && options.chunks > 0)
    return Status::userError("--chunks ", options.chunks,
                             ": --schedule auto chooses the chunks of "
                             "a stage; leave --chunks out, or name a schedule");
  if (!options.cut.empty() && (options.autoStages || options.schedule == "auto"))
    return Status::userError("--cut states the layers of each chunk: it needs a number of --stages "
                             "and a named --schedule instead of auto");
  if (options.stages < 1)
    return Status::userError("--stages: found ", options.stages, ", expected a number above 0");
  if (!options.train)
    return Status::userError("--stages is given without --train: only training steps have stages");
  const std::pair<const char *, bool> given[] = {{"--ranks least", options.leastRanks},
                                                 {"--memory least", options.leastMemory},
                                                 {"--what-if", options.whatIf},
                                                 {"--pareto", !options.pareto.empty()},
                                                 {"--problem", !options.problem.empty()},
                                                 {"--solution", !options.solution.empty()},
                                                 {"--start-from", !options.startFrom.empty()}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      return Status::userError("--stages cannot be combined with ", name,
                               " yet; leave one of both out");
  if (options.autoStages) // any number that passes the checks below
    return Status::ok();
  if (options.ranks % options.stages != 0)
    return Status::userError("--stages ", options.stages, ": found --ranks ", options.ranks,
                             ", expected a multiple of --stages, since all stages have equally "
                             "many ranks");
  if (options.mesh && options.mesh->ranks() * options.stages != options.ranks)
    return Status::userError("--mesh ", options.mesh->str(), " has ", options.mesh->ranks(),
                             " ranks, but each of the ", options.stages, " stages has ",
                             options.ranks / options.stages, "; make --mesh the mesh of one stage");
  return Status::ok();
}

// The name or file of the schedule.
static std::string scheduleOf(const CompileOptions &options) {
  return options.schedule.empty() ? "1f1b" : options.schedule;
}

// The order of a CSV file.
static Result<pipelines::Order> readOrder(const CompileOptions &options) {
  CLEAVE_TRY_ASSIGN(const std::string text, readRegularFile(options.schedule));
  CLEAVE_TRY_ASSIGN(
      pipelines::Order order,
      pipelines::readCsv(text, pipelines::CsvFormat::Tasks).withContext(options.schedule));
  if (order.ranks() != options.stages || order.microBatches() != options.accumulate)
    return Status::userError(options.schedule, " orders ", order.microBatches(),
                             " micro-batches on ", order.ranks(), " stages, but the step has ",
                             options.accumulate, " on ", options.stages,
                             "; make --accumulate and --stages those of the file");
  return order;
}

static Result<pipelines::Order> orderOf(const CompileOptions &options) {
  if (StringRef(options.schedule).ends_with(".csv"))
    return readOrder(options);
  return stage::orderOf(scheduleOf(options), options.stages, options.chunks, options.accumulate);
}

Result<std::vector<int64_t>> placementOf(const CompileOptions &options) {
  CLEAVE_TRY_ASSIGN(const pipelines::Order order, orderOf(options).withContext("--schedule"));
  return std::vector<int64_t>(order.rankOf.begin(), order.rankOf.end());
}

// Adds a unit per stage that evaluates on the parameters that the stage holds.
static Status splitEvaluation(Compilation &c, ModuleOp evaluation, ArrayRef<int64_t> placement) {
  std::vector<llvm::StringSet<>> held;
  for (Unit &unit : c.units) {
    func::FuncOp step = graph::stepOf(*unit.module);
    llvm::StringSet<> &names = held.emplace_back();
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (!graph::isPerMicroBatch(step, i))
        names.insert(graph::argName(step, i));
  }
  DiagnosticText diagnostics(*c.context);
  auto isHeld = [&](StringRef argument, int64_t chunk) {
    return held[placement[chunk]].contains(argument);
  };
  if (failed(stage::cutAlong(graph::stepOf(evaluation), static_cast<int64_t>(placement.size()),
                             isHeld)))
    return Status::userError(diagnostics.text()).withContext("--eval");
  auto modules = stage::splitIntoStages(evaluation, placement);
  if (failed(modules))
    return Status::userError(diagnostics.text()).withContext("--eval");
  for (OwningOpRef<ModuleOp> &module : *modules)
    c.units.push_back({plan::Program::EVALUATION, std::move(module)});
  return Status::ok();
}

Status splitStages(Compilation &c) {
  CLEAVE_TRY_ASSIGN(const pipelines::Order order, orderOf(c.options).withContext("--schedule"));
  CLEAVE_TRY_ASSIGN(const stage::Actions actions,
                    stage::actionsOf(order).withContext("--schedule"));
  DiagnosticText diagnostics(*c.context);
  auto modules = stage::splitIntoStages(c.module(), actions.placement);
  if (failed(modules))
    return Status::userError(diagnostics.text()).withContext("--stages");
  const OwningOpRef<ModuleOp> evaluation =
      c.units.size() > 1 ? std::move(c.units.back().module) : OwningOpRef<ModuleOp>();
  c.units.clear();
  for (auto [module, schedule] : llvm::zip_equal(*modules, actions.lists)) {
    graph::setSchedule(*module, schedule);
    c.units.push_back({plan::Program::STEP, std::move(module)});
  }
  return evaluation ? splitEvaluation(c, *evaluation, actions.placement) : Status::ok();
}

// Adds the decisions on a stage. The seconds and the bound are taken from the slowest stage; FLOPs
// are summed over all stages.
static void addStage(const plan::Plan &stage, plan::Plan &all) {
  plan::Prediction &sum = *all.mutable_predicted();
  const plan::Prediction before = sum;
  if (stage.predicted().planned_seconds() > sum.planned_seconds())
    sum = stage.predicted();
  sum.set_peak_bytes(std::max(before.peak_bytes(), stage.predicted().peak_bytes()));
  sum.set_model_flops(before.model_flops() + stage.predicted().model_flops());
  sum.set_peak_seconds(before.peak_seconds() + stage.predicted().peak_seconds());
  sum.set_is_memory_binding(before.is_memory_binding() || stage.predicted().is_memory_binding());
  const bool isFirst = all.decisions().empty();
  auto isKnown = [&](const plan::Decision &strategy) {
    return llvm::any_of(all.decisions(), [&](const plan::Decision &other) {
      return other.kind() == "strategy" && other.name() == strategy.name() &&
             other.reason() == strategy.reason();
    });
  };
  for (const plan::Decision &decision : stage.decisions())
    if (decision.kind() == "strategy"
            ? !isKnown(decision)
            : isFirst || (decision.kind() != "mesh" && decision.kind() != "axis"))
      *all.add_decisions() = decision;
}

// The steps, or the evaluations, of all stages.
static SmallVector<func::FuncOp> stagesOf(Compilation &c, plan::Program::Kind kind) {
  SmallVector<func::FuncOp> stages;
  for (Unit &unit : c.units)
    if (unit.kind == kind)
      stages.push_back(graph::stepOf(*unit.module));
  return stages;
}

// Tells the receivers of what `stage` sends forward which dims run over samples and over positions.
// Returns the stages that did not know it.
static Result<std::vector<int64_t>> tellDims(ArrayRef<func::FuncOp> stages, int64_t stage) {
  func::FuncOp step = stages[static_cast<size_t>(stage)];
  DiagnosticText diagnostics(*step.getContext());
  const FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model))
    return Status::userError(diagnostics.text());
  const planner::Batch samples = planner::findBatch(*model),
                       positions = planner::findSequences(*model);
  auto members = [](const std::vector<bool> &isMember) {
    std::vector<int> dims;
    for (size_t d = 0; d < isMember.size(); ++d)
      if (isMember[d])
        dims.push_back(static_cast<int>(d));
    return dims;
  };
  std::vector<int64_t> told;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (graph::sentWhen(step, i) != graph::Passed::Forward)
      continue;
    const auto value = static_cast<size_t>(model->outputs[i].value);
    const graph::MessageDims dims{members(samples.dims[value]), members(positions.dims[value])};
    const int64_t peer = graph::receiverOf(step, i);
    func::FuncOp receiver = stages[static_cast<size_t>(peer)];
    const unsigned argument = *graph::argNamed(receiver, graph::resultName(step, i));
    if (graph::dimsOf(receiver, argument) == dims)
      continue;
    graph::setDims(receiver, argument, dims);
    told.push_back(peer);
  }
  return told;
}

// Finds the dims of messages that run over samples and over positions, beginning at the inputs of
// the model. A stage is read again when another one tells it the dims of a message, because a later
// chunk of it may pass them on.
static Status findDims(ArrayRef<func::FuncOp> stages) {
  const auto count = static_cast<int64_t>(stages.size());
  std::vector<bool> isToRead(stages.size(), true);
  for (int64_t stage = 0; llvm::is_contained(isToRead, true); stage = (stage + 1) % count) {
    if (!isToRead[stage])
      continue;
    isToRead[stage] = false;
    CLEAVE_TRY_ASSIGN(const std::vector<int64_t> told, tellDims(stages, stage));
    for (int64_t peer : told)
      isToRead[peer] = true;
  }
  return Status::ok();
}

// Tells the stages after `stage` the layouts that its plan has for messages between it and them,
// and for arguments that they also store. `model`: of its step.
static void tellLaterStages(ArrayRef<func::FuncOp> stages, int64_t stage,
                            const planner::StepModel &model, const planner::Decisions &plan) {
  func::FuncOp step = stages[static_cast<size_t>(stage)];
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (!graph::receivedWhen(step, i) || graph::senderOf(step, i) < stage)
      continue;
    func::FuncOp sender = stages[static_cast<size_t>(graph::senderOf(step, i))];
    graph::setReceiverLayout(sender, *graph::resultNamed(sender, graph::argName(step, i)),
                             plan.arguments[i].storage);
  }
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (!graph::sentWhen(step, i) || graph::receiverOf(step, i) < stage)
      continue;
    func::FuncOp receiver = stages[static_cast<size_t>(graph::receiverOf(step, i))];
    graph::setSenderLayout(receiver, *graph::argNamed(receiver, graph::resultName(step, i)),
                           planner::outputLayout(model, plan, model.outputs[i]));
  }
  llvm::StringMap<unsigned> named;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    named[graph::argName(step, i)] = i;
  for (func::FuncOp later : llvm::drop_begin(stages, static_cast<size_t>(stage) + 1))
    for (unsigned i = 0; i < later.getNumArguments(); ++i)
      if (auto shared = named.find(graph::argName(later, i)); shared != named.end())
        graph::setSenderLayout(later, i, plan.arguments[shared->second].storage);
}

namespace {

// The plans of all stages on one mesh.
struct StagePlans {
  std::vector<PlannedModule> stages;
  size_t slowest = 0;

  double seconds() const { return stages[slowest].plan.seconds; }
};

} // namespace

// Whether no pin speaks of an op or argument by its name.
static bool haveNoNames(const planner::Pins &pins) {
  return pins.rematRules().empty() && (!pins.recipe().isNone() || !pins.restrictsLayouts());
}

// Decides on a stage, as on the last one before it that is alike, if there is any.
static Result<PlannedModule> planStage(Compilation &c, size_t stage, ArrayRef<PlannedModule> before,
                                       const cluster::Cluster &shared,
                                       const planner::PlannerOptions &options,
                                       planner::Seen &seen) {
  ModuleOp module = *c.units[stage].module;
  for (size_t i = stage; haveNoNames(options.pins) && i-- > 0;)
    if (areAlike(*c.units[i].module, module)) {
      CLEAVE_TRY_ASSIGN(std::optional<PlannedModule> planned,
                        planAlike(module, before[i], shared, options));
      if (planned)
        return std::move(*planned);
      break;
    }
  return planModule(module, shared, options, seen);
}

// Plans one stage after the other, each with the layouts in which those before it send and receive.
// The axes get the names that they have in the first one. Nothing if a stage takes as many seconds
// as `cutoff`. `seen`: the extremes among the programs of the last stage that was searched.
static Result<std::optional<StagePlans>> planOn(Compilation &c, const cluster::Cluster &shared,
                                                planner::PlannerOptions options, double cutoff,
                                                planner::Seen &seen) {
  StagePlans plans;
  const SmallVector<func::FuncOp> stages = stagesOf(c, plan::Program::STEP);
  for (size_t i = 0; i < stages.size(); ++i) {
    const Unit &unit = c.units[i];
    seen = planner::Seen();
    showProgress(c, unit.name(), options);
    Result<PlannedModule> planned = planStage(c, i, plans.stages, shared, options, seen);
    CLEAVE_TRY(planned.status().withContext(unit.name()));
    if (planned->plan.seconds >= cutoff)
      return std::optional<StagePlans>();
    tellLaterStages(stages, static_cast<int64_t>(i), planned->model, planned->plan);
    options.mesh = planned->plan.mesh;
    options.isOwnMesh = false;
    plans.stages.push_back(std::move(*planned));
    if (plans.stages.back().plan.seconds > plans.seconds())
      plans.slowest = i;
  }
  return std::optional(std::move(plans));
}

// The seconds for which the first stage waits while the first micro-batch is on later stages and
// the last one comes back, if these take `kLeastShare` of the seconds of the first one: stages are
// cut before they are planned, and differ. 0 for schedules that fill these seconds.
static double waitingSeconds(const CompileOptions &options, double first) {
  constexpr double kLeastShare = 0.75;
  const std::string schedule = scheduleOf(options);
  if (schedule != "1f1b" && schedule != "gpipe")
    return 0;
  return kLeastShare * first * static_cast<double>(options.stages - 1) /
         static_cast<double>(options.accumulate);
}

// The fastest plans of all stages on one mesh. Fails as on the mesh that misses the fewest bytes.
static Result<StagePlans> planOnMeshes(Compilation &c, const cluster::Cluster &shared,
                                       const planner::PlannerOptions &options) {
  std::optional<StagePlans> best;
  Status failure;
  int64_t least = std::numeric_limits<int64_t>::max();
  CLEAVE_TRY_ASSIGN(planner::StepModel model, readModel(*c.units[0].module));
  planner::FirstStage first(std::move(model), shared, options);
  CLEAVE_TRY_ASSIGN(const std::vector<Mesh> meshes, first.meshes());
  if (c.cutoffSeconds < solver::kForbidden) {
    const double waiting = waitingSeconds(c.options, first.bound());
    double least = first.bound() + waiting;
    if (least < c.cutoffSeconds)
      least = first.boundWithin() + waiting;
    if (least >= c.cutoffSeconds && least < solver::kForbidden) {
      c.beatenSeconds = least;
      return Status::infeasible("a step takes at least ", secondsText(least));
    }
  }
  for (const Mesh &mesh : meshes) {
    if (best && !first.mayBeFasterOn(mesh, best->seconds()))
      continue;
    planner::Seen seen;
    Result<std::optional<StagePlans>> plans =
        planOn(c, shared, planner::onMesh(options, mesh),
               best ? best->seconds() : solver::kForbidden, seen);
    if (!plans && plans.status().kind() != StatusKind::Infeasible)
      return plans.status();
    if (plans && *plans)
      best = std::move(*plans);
    const int64_t needed = seen.leastBytes.value_or(least - 1);
    if (!plans && needed < least) {
      least = needed;
      failure = plans.status();
    }
  }
  if (!best)
    return failure;
  return std::move(*best);
}

// Plans the evaluations of all stages around the plans of their steps.
static Status planEvaluations(Compilation &c, const cluster::Cluster &shared,
                              const StagePlans &plans) {
  const SmallVector<func::FuncOp> stages = stagesOf(c, plan::Program::EVALUATION);
  std::vector<planner::NamePin> inputs;
  for (const PlannedModule &step : plans.stages)
    llvm::append_range(inputs, pinsOfInputs(step.model, step.plan));
  for (size_t i = 0; i < stages.size(); ++i) {
    Unit &unit = c.units[plans.stages.size() + i];
    CLEAVE_TRY_ASSIGN(const planner::StepModel model, readModel(*unit.module));
    const PlannedModule &step = plans.stages[i];
    Result<planner::PlanReport> plan =
        planEvaluation(c, unit, shared, step.model, step.plan, inputs);
    CLEAVE_TRY(plan.status().withContext(unit.name()));
    tellLaterStages(stages, static_cast<int64_t>(i), model, *plan);
  }
  return Status::ok();
}

// Bubbles and messages outweigh the last thousandths of the seconds of a stage, on which a solve
// may spend most of its time, and there are many solves.
static void limitEffort(solver::SolveOptions &limits) {
  constexpr int kLess = 50;
  limits.goodGap = 5e-3;
  limits.maxBranches /= kLess;
  limits.maxWork /= kLess;
}

Status planStages(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  // The ranks of all stages share a machine's memory and cores.
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  CompileOptions options = c.options;
  options.ranks = c.options.ranks / c.options.stages;
  CLEAVE_TRY_ASSIGN(planner::PlannerOptions asked, plannerOptions(options, shared));
  limitEffort(asked.solve);
  CLEAVE_TRY(findDims(stagesOf(c, plan::Program::STEP)));
  CLEAVE_TRY_ASSIGN(StagePlans plans, planOnMeshes(c, shared, asked));
  CLEAVE_TRY(planEvaluations(c, shared, plans));
  plan::Plan described;
  std::string peaks;
  for (auto [i, planned] : llvm::enumerate(plans.stages)) {
    Unit &unit = c.units[i];
    const std::string name = unit.name();
    shard::annotate(graph::stepOf(*planned.module), planned.plan);
    unit.module = std::move(planned.module);
    if (!planned.recomputation.empty())
      c.remarks.push_back({"recompute", name + ": " + planned.recomputation});
    c.report = planned.plan;
    c.stagePeaks.push_back(c.report.peakBytes);
    peaks += concat(i ? ", " : "", bytesText(c.report.peakBytes));
    plan::Plan own;
    CLEAVE_TRY(describePlan(c, planned.model, own));
    addStage(own, described);
  }
  c.report = std::move(plans.stages[plans.slowest].plan);
  const std::string layout =
      c.cut.layout ? ", cut as " + pipelines::textOf(*c.cut.layout) : std::string();
  c.remarks.push_back({"stages", concat(c.options.stages, " stages, ", scheduleOf(c.options),
                                        layout, "; their ranks need ", peaks)});
  recordDecisions(c.module(), described);
  suggestLowType(c, described);
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
