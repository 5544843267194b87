// Runs, times and dumps the phases, and writes the output.
#include "passes/driver/Compile.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/choices/Pins.h"
#include "dialects/graph/Stage.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/Device.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/IrFile.h"
#include "passes/driver/MicroBatches.h"
#include "passes/driver/Phases.h"
#include "passes/driver/Record.h"
#include "passes/driver/StageSearch.h"
#include "passes/driver/Stages.h"
#include "runtime/artifact/Artifact.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <ctime>
#include <mutex>
#include <new>
#include <optional>

using namespace mlir;

namespace cleave::driver {

// Allocations of LLVM that fail do what those of operator new do: LLVM by itself aborts.
static void installNewHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
      if (std::new_handler handler = std::get_new_handler())
        handler();
    });
  });
}

Compilation::Compilation(CompileOptions options) : options(std::move(options)) {
  installNewHandler();
  DialectRegistry registry;
  registerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // messages name the place; a step has thousands of ops
}
Compilation::~Compilation() = default;

std::string Unit::name() const {
  func::FuncOp step = module ? graph::stepOf(*module) : func::FuncOp();
  const std::optional<graph::Stage> stage = step ? graph::stageOf(step) : std::nullopt;
  const std::string ofStage = stage ? concat("stage ", stage->index) : "";
  if (kind == plan::Program::EVALUATION)
    return stage ? "evaluation of " + ofStage : "evaluation";
  return stage ? ofStage : "step";
}

ModuleOp Compilation::module() const {
  return units.empty() ? ModuleOp() : ModuleOp(units.front().module.get());
}

void Compilation::setModule(OwningOpRef<ModuleOp> module) {
  if (units.empty())
    units.push_back({plan::Program::STEP, nullptr});
  units.front().module = std::move(module);
}

void Compilation::tell(const std::string &result) const {
  if (onResult)
    onResult(result);
}

void Compilation::take(Compilation &&other) {
  units.clear(); // before their context ends
  options = std::move(other.options);
  context = std::move(other.context);
  units = std::move(other.units);
  cluster = std::move(other.cluster);
  cut = std::move(other.cut);
  report = std::move(other.report);
  stagePeaks = std::move(other.stagePeaks);
  arenaBytes = other.arenaBytes;
  peakBytes = other.peakBytes;
  remarks.insert(remarks.end(), other.remarks.begin(), other.remarks.end());
  times.insert(times.end(), other.times.begin(), other.times.end());
  variants = std::move(other.variants);
}

// Reads the IR to start from. Without --start-from, a file of IR says itself which phase left it.
static Status readStart(Compilation &c) {
  CLEAVE_TRY(readIr(c));
  const std::string recorded = recordedPhase(c.module());
  if (c.options.startFrom.empty() && recorded.empty())
    return Status::userError("'", c.options.model, "' is IR, but does not say which phase left it ",
                             "(graph.phase); give --start-from PHASE");
  if (c.options.startFrom.empty())
    c.options.startFrom = recorded;
  CLEAVE_TRY_ASSIGN(const size_t phase, findPhase(c.options.startFrom));
  CLEAVE_TRY_ASSIGN(const size_t partitioned, findPhase("partitioned"));
  const bool hasStep = phase > partitioned || graph::stepOf(c.module());
  return hasStep ? Status::ok()
                 : Status::userError("'", c.options.model,
                                     "' has no function @step, expected what --stop-after ",
                                     c.options.startFrom, " wrote");
}

static Status makeDumpFolder(const Compilation &c) {
  if (c.options.dumpPhases.empty())
    return Status::ok();
  if (std::error_code error = llvm::sys::fs::create_directories(c.options.dumpPhases))
    return Status::userError("cannot create ", c.options.dumpPhases, ": ", error.message());
  return Status::ok();
}

static Status dumpPhase(Compilation &c, size_t number, const Phase &phase) {
  if (c.options.dumpPhases.empty() || !c.module())
    return Status::ok();
  return writeIr(c, concat(c.options.dumpPhases, "/", number, "-", phase.name, ".mlir"));
}

// Checks the ops' own rules, then the promise of the phase.
static Status verifyPhase(Compilation &c, const Phase &phase) {
  DiagnosticText diagnostics(*c.context);
  for (Unit &unit : c.units)
    if (failed(mlir::verify(*unit.module)))
      return Status::defect(diagnostics.text());
  return phase.verify(c);
}

// --start-from: refuses the options that only the phase `import` reads. Options of later phases may
// stay, so that the same command line resumes at any phase.
static Status checkModelOptions(const CompileOptions &options) {
  const std::pair<const char *, bool> given[] = {
      {"--set", !options.symbols.empty()},   {"--value", !options.values.empty()},
      {"--value", !options.strings.empty()}, {"--input", !options.inputs.empty()},
      {"--tie", !options.ties.empty()},      {"--untie", !options.unties.empty()}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      return Status::userError(name,
                               " has no effect with --start-from: only the phase import, which "
                               "is not run, reads it; leave it out or start from the model");
  return Status::ok();
}

// --eval: refuses what has no effect. The phase `train` makes the evaluation.
static Status checkEvaluation(const Compilation &c, size_t first) {
  if (c.options.evaluateAverages && !(c.options.evaluate && c.options.ema))
    return Status::userError("--eval-ema evaluates the averages of --ema, too; it needs --eval and "
                             "--ema DECAY");
  if (!c.options.evaluate)
    return Status::ok();
  if (!c.options.train)
    return Status::userError("--eval is given without --train: without it every plan evaluates");
  CLEAVE_TRY_ASSIGN(size_t train, findPhase("train"));
  CLEAVE_TRY_ASSIGN(size_t partitioned, findPhase("partitioned"));
  if (first > train && first <= partitioned + 1 && c.units.size() == 1)
    return Status::userError("--eval has no effect: '", c.options.model,
                             "' was written without it, and the phase train, which reads it, does "
                             "not run; start from an earlier phase");
  return Status::ok();
}

// --start-from: checks that the module is what the phase leaves. `artifact` leaves no module.
static Status checkStart(Compilation &c, const Phase &phase) {
  if (std::string_view(phase.name) == "artifact")
    return Status::ok();
  Status kept = verifyPhase(c, phase);
  return kept ? Status::ok()
              : Status::userError("'", c.options.model, "' is not what --stop-after ", phase.name,
                                  " wrote: ", kept.message());
}

// --start-from behind the planner: the module has a mesh, and --ranks and --mesh agree with it.
static Status takeMesh(Compilation &c) {
  mesh::MeshAttr attr = mesh::meshOf(c.module());
  if (!attr)
    return Status::ok();
  Mesh mesh = mesh::toMesh(attr);
  constexpr int64_t notGiven = 1;
  if (c.options.ranks != notGiven && c.options.ranks != mesh.ranks())
    return Status::userError("--ranks ", c.options.ranks, ": '", c.options.model,
                             "' is planned for ", mesh.ranks(),
                             " ranks; leave it out or start from an earlier phase");
  if (c.options.mesh && *c.options.mesh != mesh)
    return Status::userError("--mesh ", c.options.mesh->str(), ": '", c.options.model,
                             "' is planned for ", mesh.str(),
                             "; leave it out or start from an earlier phase");
  c.options.ranks = mesh.ranks();
  return Status::ok();
}

static Status runPhase(Compilation &c, size_t number) {
  const Phase &phase = phases()[number];
  auto begin = std::chrono::steady_clock::now();
  const std::clock_t beginCpu = std::clock();
  CLEAVE_TRY(phase.run(c));
  CLEAVE_TRY(verifyPhase(c, phase).withContext(std::string("after phase ") + phase.name));
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  recordProgress(c, phase.name);
  c.times.push_back(
      {phase.name, spent.count(), static_cast<double>(std::clock() - beginCpu) / CLOCKS_PER_SEC});
  return dumpPhase(c, number, phase);
}

static Status runPhases(Compilation &c, size_t first, size_t last) {
  for (size_t number = first; number <= last; ++number)
    CLEAVE_TRY(runPhase(c, number));
  return Status::ok();
}

Status compileTo(Compilation &c, const std::string &phase) {
  CLEAVE_TRY_ASSIGN(size_t last, findPhase(phase));
  return runPhases(c, 0, last);
}

Status continueTo(Compilation &c, const std::string &done, const std::string &phase) {
  CLEAVE_TRY_ASSIGN(size_t first, findPhase(done));
  CLEAVE_TRY_ASSIGN(size_t last, findPhase(phase));
  return runPhases(c, first + 1, last);
}

// Checks names that only the phase `planned` reads, so that a typo is found before a large model is
// read. The cluster `local-cpu` is measured later.
static Status checkNames(const CompileOptions &options) {
  if (options.cluster != cluster::kLocalCpu)
    CLEAVE_TRY(cluster::findCluster(options.cluster).status().withContext("--cluster"));
  return planner::Pins::parse(options.pin).status().withContext("--pin");
}

// The key of --sign, read before the first phase.
static Status readKey(const CompileOptions &options, std::optional<artifact::SigningKey> &key) {
  if (options.signKey.empty())
    return Status::ok();
  if (!options.stopAfter.empty())
    return Status::userError("--sign signs a plan, but --stop-after writes none; leave one out");
  CLEAVE_TRY_ASSIGN(key, artifact::SigningKey::read(options.signKey).withContext("--sign"));
  return Status::ok();
}

// Options that the phase `planned` reads mean nothing if it does not run.
static Status checkAnswers(const CompileOptions &options, size_t first, size_t last) {
  CLEAVE_TRY_ASSIGN(size_t planned, findPhase("planned"));
  if (first <= planned && planned <= last)
    return Status::ok();
  const std::pair<const char *, bool> given[] = {{"--what-if", options.whatIf},
                                                 {"--pareto", !options.pareto.empty()},
                                                 {"--ranks least", options.leastRanks},
                                                 {"--stages auto", options.autoStages},
                                                 {"--micro-batch", !options.microBatch.empty()}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      return Status::userError(name, " has no effect: the phase planned, which reads it, does not ",
                               "run; leave it out, or --start-from or --stop-after");
  return Status::ok();
}

Status compile(Compilation &c) {
  std::optional<artifact::SigningKey> key;
  CLEAVE_TRY(readKey(c.options, key));
  if (!c.options.device.empty())
    CLEAVE_TRY(parseDevice(c.options.device).status().withContext("--device"));
  CLEAVE_TRY(checkNames(c.options));
  size_t first = 0, last = phases().size() - 1;
  if (!c.options.startFrom.empty() || isIrFile(c.options.model)) {
    if (!c.options.startFrom.empty())
      CLEAVE_TRY(findPhase(c.options.startFrom).status().withContext("--start-from"));
    CLEAVE_TRY(checkModelOptions(c.options));
    CLEAVE_TRY(readStart(c));
    CLEAVE_TRY_ASSIGN(size_t phase, findPhase(c.options.startFrom).withContext("graph.phase"));
    CLEAVE_TRY(checkStart(c, phases()[phase]));
    CLEAVE_TRY(takeMesh(c));
    first = phase + 1;
  }
  if (!c.options.stopAfter.empty()) {
    CLEAVE_TRY_ASSIGN(last, findPhase(c.options.stopAfter).withContext("--stop-after"));
  }
  if (first > last)
    return Status::userError("no phase lies behind --start-from " + c.options.startFrom +
                             (c.options.stopAfter.empty()
                                  ? ", expected an earlier one"
                                  : ", expected a later one than it for --stop-after"));
  CLEAVE_TRY(checkAnswers(c.options, first, last));
  CLEAVE_TRY(checkEvaluation(c, first));
  CLEAVE_TRY(checkStages(c.options));
  CLEAVE_TRY(makeDumpFolder(c));
  if (!c.options.microBatch.empty())
    CLEAVE_TRY(cutBatch(c));
  if (leavesStagesOpen(c.options) ||
      (c.options.stages > 1 && first == 0 && last >= *findPhase("planned")))
    CLEAVE_TRY(chooseStages(c));
  if (!c.times.empty()) // the choice ran phases
    first = *findPhase(c.times.back().phase) + 1;
  CLEAVE_TRY(runPhases(c, first, last));
  if (!c.options.stopAfter.empty())
    return writeIr(c, c.options.output);
  return artifact::writePlan(c.plan, c.options.output, key ? &*key : nullptr);
}

} // namespace cleave::driver
