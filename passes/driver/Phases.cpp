// The table of phases.
#include "passes/driver/Phases.h"

#include "compiler/analysis/Vocabulary.h"
#include "compiler/artifact/ExportPlan.h"
#include "compiler/cluster/Presets.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/PlanFile.h"
#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/torchscript/Import.h"
#include "compiler/planner/Planner.h"
#include "compiler/planner/ReadStep.h"
#include "compiler/solver/Json.h"
#include "dialects/graph/KnownTexts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/codegen/cpu/CpuCodegen.h"
#include "passes/decompose/Decompose.h"
#include "passes/fuse/Fuse.h"
#include "passes/schedule/Bucket.h"
#include "passes/schedule/Order.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/Partition.h"
#include "passes/simplify/Recognised.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"
#include "runtime/artifact/Verify.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

#include <fstream>

using namespace mlir;

namespace cleave::driver {

static Result<frontend::ImportOptions> importOptions(const CompileOptions &from) {
  frontend::ImportOptions options;
  options.symbols = from.symbols;
  options.keepSymbols = from.keepSymbols;
  options.values = from.values;
  options.texts = from.texts;
  options.differentiate = buildGradients;
  options.tie = from.ties;
  options.untie = from.unties;
  for (const std::string &text : from.inputs) {
    Result<frontend::InputType> input = frontend::parseInput(text);
    CLEAVE_TRY(input.status().withContext("--input"));
    options.inputs.push_back(*input);
  }
  using BatchNorm = frontend::ImportOptions::BatchNorm;
  options.batchNorm = !from.train                  ? BatchNorm::AsExported
                      : from.batchNorm == "frozen" ? BatchNorm::Frozen
                                                   : BatchNorm::Train;
  return options;
}

// By the format that the file's content shows.
static Result<frontend::Imported> importModel(Compilation &c,
                                              const frontend::ImportOptions &options) {
  const std::string &path = c.options.model;
  if (!pt2::recognises(path) && !torchscript::recognises(path))
    return onnx::importOnnx(*c.context, path, options);
  for (const auto &[name, texts] : options.texts)
    if (!options.values.contains(name))
      return Status::userError("--value " + name + "=…: found texts, expected numbers");
  if (pt2::recognises(path))
    return pt2::importExported(*c.context, path, options);
  return torchscript::importTorchScript(*c.context, path, options);
}

static Status import(Compilation &c) {
  Result<frontend::ImportOptions> options = importOptions(c.options);
  CLEAVE_TRY(options.status());
  Result<frontend::Imported> imported = importModel(c, *options);
  CLEAVE_TRY(imported.status());
  c.module = std::move(imported->module);
  for (const frontend::Remark &remark : imported->remarks)
    if (c.options.train || remark.kind != frontend::Remark::Kind::TrainingWarning)
      c.remarks.push_back({frontend::kindName(remark.kind), remark.name + ": " + remark.text});
  for (const graph::KnownTexts &texts : graph::knownTextsOf(*c.module))
    c.remarks.push_back({"known", texts.name + ": the texts '" +
                                      llvm::join(texts.elements, "', '") +
                                      "' follow from the model; no program computes them"});
  return Status::ok();
}

// The step that phases after import work on.
static func::FuncOp step(Compilation &c) { return graph::stepOf(*c.module); }

// Runs `work`, whose complaints are the user's mistakes.
static Status reported(Compilation &c, llvm::function_ref<LogicalResult()> work) {
  DiagnosticText diagnostics(*c.context);
  return succeeded(work()) ? Status::ok() : Status::userError(diagnostics.text());
}

// Canonical forms, and what is computed twice only once.
static void tidy(Compilation &c) {
  PassManager passes(c.context.get());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  LogicalResult result = passes.run(*c.module);
  assert(succeeded(result) && "tidying changes nothing that can go wrong");
  (void)result;
}

static Status forward(Compilation &c) {
  if (!c.options.train)
    graph::dropGradientStops(step(c));
  CLEAVE_TRY(reported(c, [&] { return simplify::simplify(step(c)); }));
  if (std::string found = simplify::recognisedText(step(c)); !found.empty())
    c.remarks.push_back({"recognised", found});
  return Status::ok();
}

// Parameters that stay as they are, since the file says so.
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

static Status train(Compilation &c) {
  if (!c.options.train)
    return Status::ok();
  TrainOptions options;
  for (const std::string &text : c.options.losses) {
    Result<LossOption> loss = parseLoss(text);
    CLEAVE_TRY(loss.status().withContext("--loss"));
    options.losses.push_back(*loss);
  }
  Result<OptimizerOption> optimizer = parseOptimizer(c.options.optimizer);
  CLEAVE_TRY(optimizer.status().withContext("--optimizer"));
  options.optimizer = *optimizer;
  options.trainable = c.options.trainable;
  options.freeze = c.options.freeze;
  if (c.options.clipNorm > 0)
    options.clipNorm = c.options.clipNorm;
  options.accumulate = c.options.accumulate;
  options.freezeBatchNorm = c.options.batchNorm == "frozen";
  return reported(c, [&] {
    if (failed(buildTrainingStep(step(c), options)))
      return failure();
    remarkFrozen(c);
    return simplify::simplify(step(c), simplify::Composites::Leave);
  });
}

static Status primitive(Compilation &c) {
  analysis::recordVocabularies(step(c));
  decomposeComposites(step(c));
  // Products of attention read their operands where they lie.
  CLEAVE_TRY(reported(c, [&] { return simplify::simplify(step(c), simplify::Composites::Leave); }));
  tidy(c);
  fuse::formGroups(step(c));
  schedule::orderForMemory(step(c));
  return Status::ok();
}

// --dump-phases: keeps the planner's networks, which cleave-solve reads.
static Status writeNetwork(const std::string &folder, const Mesh &mesh,
                           const solver::Problem &problem) {
  std::string path = folder + "/network-" + planner::str(mesh) + ".json";
  if (!(std::ofstream(path) << solver::toJson(problem) << std::flush))
    return Status::userError("cannot write " + path);
  return Status::ok();
}

static Result<planner::PlannerOptions> plannerOptions(const Compilation &c) {
  const CompileOptions &from = c.options;
  planner::PlannerOptions options;
  options.ranks = from.ranks;
  options.memoryBytes = c.plannerBudget ? c.plannerBudget : static_cast<int64_t>(from.memoryBytes);
  if (!from.mesh.empty()) {
    options.mesh = planner::parseMesh(from.mesh);
    if (!options.mesh)
      return Status::userError("--mesh: found '" + from.mesh +
                               "', expected AXIS=N,..., for example dp=2,tp=2");
  }
  Result<planner::Pins> pins = planner::Pins::parse(from.pin);
  CLEAVE_TRY(pins.status().withContext("--pin"));
  options.pins = *pins;
  if (!from.dumpPhases.empty())
    options.onNetwork = [folder = from.dumpPhases](const Mesh &mesh,
                                                   const solver::Problem &problem) {
      return writeNetwork(folder, mesh, problem);
    };
  return options;
}

// The cluster, read once.
static Status loadCluster(Compilation &c) {
  if (c.cluster)
    return Status::ok();
  Result<cluster::Cluster> cluster = cluster::findCluster(c.options.cluster);
  CLEAVE_TRY(cluster.status().withContext("--cluster"));
  c.cluster = *cluster;
  return Status::ok();
}

static Status plan(Compilation &c) {
  Result<planner::PlannerOptions> options = plannerOptions(c);
  CLEAVE_TRY(options.status());
  CLEAVE_TRY(loadCluster(c));
  FailureOr<planner::StepModel> model = failure();
  CLEAVE_TRY(reported(c, [&] {
    model = planner::readStep(step(c));
    return success(succeeded(model));
  }));
  Result<planner::Plan> decided = planner::planStep(*model, *c.cluster, *options);
  CLEAVE_TRY(decided.status());
  c.decided = *decided;
  shard::annotate(step(c), *decided);
  return Status::ok();
}

static Status partition(Compilation &c) {
  CLEAVE_TRY(loadCluster(c));
  Result<cluster::Cluster> shared = cluster::forRanks(*c.cluster, c.options.ranks);
  CLEAVE_TRY(shared.status().withContext("--cluster"));
  CLEAVE_TRY(reported(c, [&] { return shard::partition(step(c), *shared); }));
  tidy(c);
  fuse::separateIotasInGroups(step(c));
  schedule::bucketReductions(step(c));
  schedule::orderForMemory(step(c));
  return Status::ok();
}

static Status program(Compilation &c) {
  FailureOr<bufferize::MemoryReport> memory = failure();
  DiagnosticText diagnostics(*c.context);
  memory = bufferize::bufferize(*c.module);
  if (failed(memory))
    return Status::defect(diagnostics.text());
  c.arenaBytes = memory->arena;
  return Status::ok();
}

static Status artifact(Compilation &c) {
  SmallVector<program::KernelOp> kernels(c.module->getOps<program::KernelOp>());
  codegen::CpuOptions options;
  options.checked = c.options.checkKernels;
  if (c.options.output != "-")
    options.reproducer = c.options.output;
  if (!c.options.dumpPhases.empty())
    options.dumpTo = c.options.dumpPhases + "/kernels";
  Result<codegen::CpuLibrary> library = codegen::compileKernels(kernels, options);
  CLEAVE_TRY(library.status());
  Result<plan::Plan> exported = artifact::exportPlan(*c.module, library->bytes, library->target);
  CLEAVE_TRY(exported.status());
  c.plan = *exported;
  return completePlan(c);
}

// The plan file, looked at by somebody who does not believe the compiler.
static Status verifyArtifact(Compilation &c) { return artifact::verifyPlan(c.plan); }

static const Phase kPhases[] = {
    {"import", "the model file as one function on whole tensors", import, nullptr},
    {"forward", "the same in canonical form", forward, nullptr},
    {"train", "loss, gradients and optimizer added: one whole training step", train, nullptr},
    {"primitive", "composites taken apart, and what will be one kernel grouped", primitive,
     nullptr},
    {"planned", "every op and argument says how it is split over which mesh", plan, nullptr},
    {"partitioned", "one rank's blocks of all tensors, joined by collectives", partition, nullptr},
    {"program", "what one rank does: instructions on buffers at fixed offsets", program, nullptr},
    {"artifact", "kernels compiled, everything in one plan", artifact, verifyArtifact},
};

ArrayRef<Phase> phases() { return kPhases; }

Result<size_t> findPhase(const std::string &name) {
  std::string known;
  for (auto [i, phase] : llvm::enumerate(kPhases)) {
    if (name == phase.name)
      return i;
    known += std::string(i ? ", " : "") + phase.name;
  }
  return Status::userError("found phase '" + name + "', expected one of " + known);
}

} // namespace cleave::driver
