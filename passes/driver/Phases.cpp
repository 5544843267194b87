// The table of phases.
#include "passes/driver/Phases.h"

#include "compiler/analysis/Vocabulary.h"
#include "compiler/artifact/ExportPlan.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/torchscript/Import.h"
#include "dialects/graph/Attention.h"
#include "dialects/graph/KnownStrings.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "dialects/program/Program.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/decompose/BatchMoments.h"
#include "passes/decompose/Decompose.h"
#include "passes/decompose/DirectConvolutions.h"
#include "passes/decompose/LongReductions.h"
#include "passes/decompose/SpaceToDepth.h"
#include "passes/driver/CutStages.h"
#include "passes/driver/Device.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/Evaluation.h"
#include "passes/driver/HideTransfers.h"
#include "passes/driver/PlanFile.h"
#include "passes/driver/PlanPhase.h"
#include "passes/driver/PlannedProgram.h"
#include "passes/driver/Stages.h"
#include "passes/driver/Units.h"
#include "passes/driver/Variants.h"
#include "passes/fuse/Fuse.h"
#include "passes/precision/Precision.h"
#include "passes/promise/Promise.h"
#include "passes/schedule/Order.h"
#include "passes/schedule/Queues.h"
#include "passes/simplify/Recognised.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/Units.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

namespace cleave::driver {

static Result<frontend::ImportOptions> importOptions(const CompileOptions &from) {
  frontend::ImportOptions options;
  options.symbols = from.symbols;
  options.keepSymbols = from.keepSymbols;
  options.values = from.values;
  options.strings = from.strings;
  options.differentiate = autodiff::buildGradients;
  options.tie = from.ties;
  options.untie = from.unties;
  for (const std::string &text : from.inputs) {
    CLEAVE_TRY_ASSIGN(frontend::InputType input, frontend::parseInput(text).withContext("--input"));
    options.inputs.push_back(std::move(input));
  }
  using BatchNorm = frontend::ImportOptions::BatchNorm;
  options.batchNorm = from.batchNorm == "frozen"                ? BatchNorm::Frozen
                      : from.train || from.batchNorm == "train" ? BatchNorm::Train
                                                                : BatchNorm::AsExported;
  return options;
}

// Chooses the importer by the file's content.
static Result<frontend::Imported> importModel(Compilation &c,
                                              const frontend::ImportOptions &options) {
  const std::string &path = c.options.model;
  if (!pt2::recognises(path) && !torchscript::recognises(path))
    return onnx::importOnnx(*c.context, path, options);
  for (const auto &[name, strings] : options.strings)
    if (!options.values.contains(name))
      return Status::userError("--value ", name, "=…: found strings, expected numbers");
  if (pt2::recognises(path))
    return pt2::importExported(*c.context, path, options);
  return torchscript::importTorchScript(*c.context, path, options);
}

// The step, from the phase `import` on.
static func::FuncOp step(Compilation &c) { return graph::stepOf(c.module()); }

// Refuses a training without a loss, once the model can say what may be one.
static Status checkLosses(Compilation &c) {
  return !c.options.train || !c.options.losses.empty()
             ? Status::ok()
             : Status::userError("--train needs a loss: ", train::lossesToChoose(step(c)));
}

static Status import(Compilation &c) {
  CLEAVE_TRY_ASSIGN(frontend::ImportOptions options, importOptions(c.options));
  CLEAVE_TRY_ASSIGN(frontend::Imported imported, importModel(c, options));
  c.setModule(std::move(imported.module));
  CLEAVE_TRY(checkLosses(c));
  for (const frontend::Remark &remark : imported.remarks)
    if (c.options.train || remark.kind != frontend::Remark::Kind::TrainingWarning)
      c.remarks.push_back({frontend::kindName(remark.kind), remark.name + ": " + remark.text});
  for (const graph::KnownStrings &known : graph::knownStringsOf(c.module()))
    c.remarks.push_back({"known", known.name + ": the strings '" +
                                      llvm::join(known.elements, "', '") +
                                      "' follow from the model; no program computes them"});
  return Status::ok();
}

// Runs `work`, whose errors are the user's mistakes, and whose warnings become remarks.
static Status reported(Compilation &c, llvm::function_ref<LogicalResult()> work) {
  DiagnosticText diagnostics(*c.context);
  if (failed(work()))
    return Status::userError(diagnostics.text());
  for (const std::string &warning : diagnostics.warnings())
    c.remarks.push_back({"warning", warning});
  return Status::ok();
}

// Warns of an inference that depends on how samples are divided into batches.
static void remarkBatchStatistics(Compilation &c) {
  size_t count = 0;
  step(c).walk([&](graph::BatchNormOp) { ++count; });
  if (count > 0 && c.options.batchNorm.empty())
    c.remarks.push_back(
        {"warning", concat(count,
                           count == 1 ? " batch norm uses the statistics of each batch and changes"
                                      : " batch norms use the statistics of each batch and change",
                           " the running ones, as the file says; --batch-norm frozen uses the "
                           "running ones")});
}

static Status forward(Compilation &c) {
  if (!c.options.train) {
    graph::dropGradientStops(step(c));
    remarkBatchStatistics(c);
  }
  CLEAVE_TRY(reported(c, [&] { return simplify::simplify(step(c)); }));
  if (std::string found = simplify::recognisedText(step(c)); !found.empty())
    c.remarks.push_back({"recognised", found});
  return Status::ok();
}

// Adds a remark that names the parameters which the model file freezes.
static void remarkFrozen(Compilation &c) {
  std::string names;
  size_t count = 0;
  for (unsigned i = 0; i < step(c).getNumArguments(); ++i)
    if (graph::isFrozen(step(c), i) && !graph::isTrainable(step(c), i) && ++count <= 3)
      names += (count > 1 ? ", " : "") + graph::argName(step(c), i).str();
  if (count > 0)
    c.remarks.push_back({"frozen", names + (count > 3 ? ", ..." : "") + ": " +
                                       std::to_string(count) +
                                       " parameters are not trained, since the file says so "
                                       "(requires_grad=False); --trainable NAME trains them"});
}

// Gives convolutions kernels of their own where the device's library has none, or is not wanted.
static void chooseConvolutions(Compilation &c, func::FuncOp step, bool isForGpus) {
  using decompose::Direct;
  if (!isForGpus && !c.options.directConvolution)
    return;
  const bool all = c.options.directConvolution;
  const int64_t count =
      decompose::markDirectConvolutions(step, all ? Direct::All : Direct::Necessary);
  if (count > 0)
    c.remarks.push_back(
        {"convolution",
         concat(count, count == 1 ? " convolution or gradient" : " convolutions and gradients",
                " by generated kernels, which are slow, ",
                all ? "as --direct-convolution says"
                    : "since cuDNN may have no engines for their padding or number of dims")});
}

// Decides which attention the library of GPUs computes, and says why not the others.
static void chooseAttention(Compilation &c, func::FuncOp step, bool isForGpus) {
  if (!isForGpus)
    return;
  int64_t library = 0, direct = 0;
  std::set<std::string> reasons;
  auto choose = [&](auto op) {
    if (c.options.directAttention)
      op->setAttr(graph::kDirectAttention, UnitAttr::get(op.getContext()));
    if (graph::isLibraryAttention(op)) {
      ++library;
      return;
    }
    ++direct;
    reasons.insert(c.options.directAttention ? "--direct-attention says so"
                                             : graph::AttentionScores(op).libraryRefusal());
  };
  step.walk([&](graph::AttentionOp op) { choose(op); });
  step.walk([&](graph::AttentionGradOp op) { choose(op); });
  auto remark = [&](int64_t count, const std::string &how) {
    if (count > 0)
      c.remarks.push_back(
          {"attention",
           concat(count, count == 1 ? " attention or gradient " : " attentions and gradients ",
                  how)});
  };
  remark(library, "by cuDNN; --direct-attention needs no cuDNN for attention");
  remark(direct, "by generated kernels: " + llvm::join(reasons, "; "));
}

// Says which products compute in the low type, and what stays f32.
static void remarkPrecision(Compilation &c, const precision::Policy &policy,
                            const precision::Summary &summary) {
  if (!policy.isNone())
    c.remarks.push_back({"precision", summary.text(policy)});
}

static Status train(Compilation &c) {
  train::TrainOptions options;
  CLEAVE_TRY_ASSIGN(options.precision,
                    precision::parsePolicy(c.options.dtype).withContext("--dtype"));
  if (options.precision.tf32)
    graph::setF32Products(c.module(), "tf32");
  precision::Summary summary;
  if (!c.options.train) {
    CLEAVE_TRY(
        reported(c, [&] { return precision::applyPolicy(step(c), options.precision, &summary); }));
    remarkPrecision(c, options.precision, summary);
    return Status::ok();
  }
  CLEAVE_TRY(checkLosses(c));
  for (const std::string &text : c.options.losses) {
    CLEAVE_TRY_ASSIGN(train::LossOption loss, train::parseLoss(text).withContext("--loss"));
    options.losses.push_back(loss);
  }
  CLEAVE_TRY_ASSIGN(options.optimizer,
                    train::parseOptimizer(c.options.optimizer).withContext("--optimizer"));
  for (const std::string &text : c.options.groups) {
    CLEAVE_TRY_ASSIGN(train::GroupOption group,
                      train::parseGroup(text, options.optimizer).withContext("--optimizer-group"));
    options.groups.push_back(std::move(group));
  }
  options.ema = c.options.ema;
  graph::setOptimizer(c.module(), train::optimizerText(options));
  options.trainable = c.options.trainable;
  options.freeze = c.options.freeze;
  if (c.options.clipNorm > 0)
    options.clipNorm = c.options.clipNorm;
  options.accumulate = c.options.accumulate;
  Status cut;
  if (c.options.stages > 1)
    options.cut = [&](func::FuncOp step) {
      cut = cutModel(c, step);
      return success(cut.isOk());
    };
  options.freezeBatchNorm = c.options.batchNorm == "frozen";
  if (c.options.evaluate)
    CLEAVE_TRY(makeEvaluation(c, options));
  const Status built = reported(c, [&] {
    if (failed(train::buildTrainingStep(step(c), options, &summary)))
      return failure();
    remarkFrozen(c);
    remarkPrecision(c, options.precision, summary);
    return simplify::simplify(step(c), simplify::Composites::Leave);
  });
  CLEAVE_TRY(cut);
  CLEAVE_TRY(built);
  return c.options.evaluateAverages ? addAverages(c) : Status::ok();
}

static Status makePrimitive(Compilation &c, Unit &unit) {
  func::FuncOp step = graph::stepOf(*unit.module);
  analysis::recordVocabularies(step);
  CLEAVE_TRY_ASSIGN(const bool isForGpus, wantsGpus(c));
  markDevice(*unit.module, isForGpus);
  decompose::decomposeComposites(step, c.options.decomposeAttention ? decompose::keepsNothing
                                       : isForGpus                  ? decompose::keepsGpuKernels
                                                                    : decompose::keepsKernels);
  // Moves the transposes of decomposed attention into the products that read them.
  CLEAVE_TRY(reported(c, [&] { return simplify::simplify(step, simplify::Composites::Leave); }));
  chooseConvolutions(c, step, isForGpus);
  if (isForGpus) {
    decompose::splitLongReductions(step);
    precision::narrowConvolutionGradients(step);
    decompose::applySpaceToDepth(step);
  }
  tidy(*unit.module);
  if (isForGpus && decompose::mergeBatchMoments(step) > 0)
    tidy(*unit.module);
  chooseAttention(c, step, isForGpus);
  fuse::formGroups(step);
  schedule::orderForMemory(step);
  return Status::ok();
}

static Status primitive(Compilation &c) {
  if (c.options.stages > 1)
    CLEAVE_TRY(splitStages(c));
  return forEachUnit(c, [&](Unit &unit) { return makePrimitive(c, unit); });
}

static Status partition(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  return forEachUnit(c, [&](Unit &unit) {
    return reported(c, [&] { return partitionStep(*unit.module, shared); });
  });
}

// Runs `check`, whose errors are defects of the compiler.
static Status promised(Compilation &c, llvm::function_ref<LogicalResult()> check) {
  DiagnosticText diagnostics(*c.context);
  return succeeded(check()) ? Status::ok() : Status::defect(diagnostics.text());
}

// --memory least: the evaluation takes more than the least of the training.
static Status raiseBudget(Compilation &c, int64_t training) {
  c.report.budget = static_cast<int64_t>(c.arenaBytes);
  c.options.memory = c.report.budget;
  c.remarks.push_back({"memory", concat("the evaluation of --eval takes ", bytesText(c.arenaBytes),
                                        " with what the training keeps; the training alone takes ",
                                        bytesText(training))});
  return Status::ok();
}

static Status scheduled(Compilation &c) {
  if (c.options.stages > 1)
    addStageAxis(c);
  SmallVector<func::FuncOp> stages, evaluations; // the module has the first stage
  for (Unit &unit : llvm::drop_begin(c.units))
    (unit.kind == plan::Program::EVALUATION ? evaluations : stages)
        .push_back(graph::stepOf(*unit.module));
  CLEAVE_TRY(
      promised(c, [&] { return bufferize::lowerPrograms(c.module(), stages, evaluations); }));
  c.units.resize(1);
  schedule::assignQueues(c.module());
  CLEAVE_TRY(loadCluster(c));
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  CLEAVE_TRY_ASSIGN(const std::vector<int64_t> added,
                    hideTransfers(c.module(), shared, c.report.budget));
  if (c.stagePeaks.empty())
    c.report.peakBytes += added.front();
  for (auto [peak, bytes] : llvm::zip(c.stagePeaks, added))
    peak += bytes;
  return Status::ok();
}

// Checks that the values in other spaces than device memory fit there.
static Status checkSpaces(Compilation &c) {
  for (auto [space, option, budget] :
       {std::tuple(Space::Host, "--host-memory", c.options.hostMemory),
        std::tuple(Space::File, "--file-memory", c.options.fileMemory)}) {
    int64_t bytes = 0;
    for (auto program : c.module().getOps<program::ProgramOp>())
      if (const program::ArenaAttr arena = program.arenaIn(space))
        bytes = std::max(bytes, arena.getBytes());
    if (bytes > budget)
      return Status::infeasible("what the plan keeps ",
                                space == Space::Host ? "in host memory" : "in a file", " takes ",
                                bytesText(bytes), " per rank, ", option, " is ", bytesText(budget));
    if (bytes > 0)
      c.remarks.push_back({"space", concat(bytesText(bytes), " per rank are kept ",
                                           space == Space::Host ? "in host memory" : "in a file")});
  }
  return Status::ok();
}

// Places the buffers of all programs. A search for the smallest arenas may end above the budget
// where one for the budget, as hideTransfers() makes, ends within it.
static std::vector<bufferize::ArenaSizes> place(Compilation &c) {
  const planner::Budget &budget = c.report.budget;
  std::vector<bufferize::ArenaSizes> steps = bufferize::placePrograms(c.module());
  auto fits = [&](const bufferize::ArenaSizes &step) { return budget.holds(step.arena); };
  return llvm::all_of(steps, fits) ? std::move(steps)
                                   : bufferize::placePrograms(c.module(), budget.bytes());
}

static Status program(Compilation &c) {
  const std::vector<bufferize::ArenaSizes> steps = place(c);
  schedule::setWaits(c.module());
  c.arenaBytes = 0;
  for (auto program : c.module().getOps<program::ProgramOp>())
    c.arenaBytes = std::max(c.arenaBytes, static_cast<uint64_t>(program.getArena()->getBytes()));
  c.peakBytes = steps.front().peak;
  c.peaks.clear();
  for (const bufferize::ArenaSizes &step : steps)
    c.peaks.push_back(step.peak);
  CLEAVE_TRY(checkSpaces(c));
  const planner::Budget &budget = c.report.budget;
  const bool holdsSteps = llvm::all_of(
      steps, [&](const bufferize::ArenaSizes &step) { return budget.holds(step.arena); });
  if (!budget.holds(static_cast<int64_t>(c.arenaBytes)) && holdsSteps) {
    if (c.options.leastMemory)
      return raiseBudget(c, budget.bytes());
    return Status::infeasible("the evaluation of --eval takes ", bytesText(c.arenaBytes),
                              " with what the training keeps, of a budget of ",
                              bytesText(budget.bytes()),
                              "; leave --eval out, or give more --memory");
  }
  return Status::ok();
}

static Status artifact(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  CLEAVE_TRY_ASSIGN(std::vector<plan::Module> modules, compileModules(c));
  const char *device = program::isForGpus(c.module()) ? artifact::kCuda : artifact::kCpu;
  CLEAVE_TRY_ASSIGN(c.plan, artifact::exportPlan(c.module(), device, std::move(modules)));
  return completePlan(c);
}

template <LogicalResult (*check)(ModuleOp)> static Status verifyPromise(Compilation &c) {
  return forEachUnit(c,
                     [&](Unit &unit) { return promised(c, [&] { return check(*unit.module); }); });
}

static Status verifyForward(Compilation &c) {
  return promised(c, [&] { return promise::checkForward(c.module(), c.options.train); });
}

static Status verifyTrain(Compilation &c) {
  return forEachUnit(c, [&](Unit &unit) {
    const bool trains = c.options.train && unit.kind == plan::Program::STEP;
    return promised(c, [&] {
      return trains ? promise::checkTrain(*unit.module)
                    : promise::checkForward(*unit.module, /*trains=*/false);
    });
  });
}

static Status verifyPartitioned(Compilation &c) {
  CLEAVE_TRY(verifyPromise<promise::checkPartitioned>(c));
  SmallVector<func::FuncOp> steps, evaluations;
  for (Unit &unit : c.units)
    (unit.kind == plan::Program::EVALUATION ? evaluations : steps)
        .push_back(graph::stepOf(*unit.module));
  CLEAVE_TRY(promised(c, [&] { return promise::checkMessages(steps); }));
  return promised(c, [&] { return promise::checkMessages(evaluations); });
}

// The memory of every stage is as planned, and fits.
static Status verifyStagePeaks(Compilation &c) {
  for (auto [peak, planned] : llvm::zip_equal(c.peaks, c.stagePeaks))
    if (peak != planned)
      return Status::defect("the program of a stage takes ", peak, " bytes at its peak, but ",
                            planned, " were planned");
  for (auto program : c.module().getOps<program::ProgramOp>())
    if (!c.report.budget.holds(static_cast<int64_t>(program.getArena()->getBytes())))
      return Status::defect("the program of a stage takes ", program.getArena()->getBytes(),
                            " bytes of a budget of ", c.report.budget.bytes());
  return Status::ok();
}

// The planner's memory is exact, and fits.
static Status verifyProgram(Compilation &c) {
  CLEAVE_TRY(verifyPromise<promise::checkProgram>(c));
  if (c.report.ops.empty()) // no planner ran
    return Status::ok();
  if (!c.stagePeaks.empty())
    return verifyStagePeaks(c);
  if (static_cast<uint64_t>(c.report.peakBytes) != c.peakBytes)
    return Status::defect("the program takes ", c.peakBytes, " bytes at its peak, but ",
                          c.report.peakBytes, " were planned");
  if (!c.report.budget.holds(static_cast<int64_t>(c.arenaBytes)))
    return Status::defect("the program takes ", c.arenaBytes, " bytes of a budget of ",
                          c.report.budget.bytes());
  return Status::ok();
}

// The plan file, by a verifier that shares no code with the compiler.
static Status verifyArtifact(Compilation &c) { return artifact::verifyPlan(c.plan); }

static const Phase kPhases[] = {
    {"import", "the model file as one function on whole tensors", import,
     verifyPromise<promise::checkImport>},
    {"forward", "the same in canonical form", forward, verifyForward},
    {"train", "loss, gradients and optimizer added: one whole training step", train, verifyTrain},
    {"primitive", "composites decomposed, ops that become one kernel grouped, in their final order",
     primitive, verifyPromise<promise::checkPrimitive>},
    {"planned", "every op and argument annotated with its split over the mesh", runPlanPhase,
     verifyPromise<promise::checkPlanned>},
    {"partitioned", "one rank's blocks of all tensors, joined by collectives", partition,
     verifyPartitioned},
    {"scheduled", "one rank's instructions in order, in their queues, on buffers with lifetimes",
     scheduled, verifyPromise<promise::checkScheduled>},
    {"program", "the buffers at fixed offsets, and what instructions wait for", program,
     verifyProgram},
    {"artifact", "kernels compiled, everything in one plan", artifact, verifyArtifact},
};

ArrayRef<Phase> phases() { return kPhases; }

Result<size_t> findPhase(const std::string &name) {
  std::vector<std::string> known;
  for (auto [i, phase] : llvm::enumerate(kPhases)) {
    if (name == phase.name)
      return i;
    known.push_back(phase.name);
  }
  return Status::userError("unknown phase '", name, "'", suggestion(name, known));
}

} // namespace cleave::driver
