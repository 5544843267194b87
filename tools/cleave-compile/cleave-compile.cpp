// cleave-compile: from a model file and a cluster description to a plan.
#include "ProgressLine.h"
#include "Report.h"

#include "compiler/cluster/Presets.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Phases.h"
#include "runtime/base/Units.h"
#include "tools/commandline/CommandLine.h"
#include "tools/commandline/TrainFile.h"
#include "tools/model-options/ModelOptions.h"

#include <charconv>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace cleave;
using driver::CompileOptions;

namespace {
// Unparsed option values.
struct Typed {
  tools::TypedModelOptions model;
  std::optional<std::string> memory, hostMemory, fileMemory;
  std::string ranks = "1", stages = "1";
  std::string mesh;
};
} // namespace

static void addKernelOptions(CLI::App &app, CompileOptions &options) {
  app.add_flag("--decompose-attention", options.decomposeAttention,
               "compute attention by products and softmax instead of one kernel, with memory for "
               "all scores")
      ->group("Plan");
  app.add_flag("--direct-attention", options.directAttention,
               "on GPUs, compute attention by generated kernels instead of the device's library")
      ->group("Plan");
  app.add_flag("--direct-convolution", options.directConvolution,
               "compute convolutions by generated kernels instead of the device's library")
      ->group("Plan");
}

static void addPlanOptions(CLI::App &app, CompileOptions &options, Typed &typed) {
  app.add_option("--cluster", options.cluster, "the cluster: this machine, a preset or a file")
      ->type_name(valuesType(cluster::presetNames()) + "|FILE")
      ->group("Plan")
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "the devices that run the plan, for example cuda:sm_90; default: those of the "
                 "cluster")
      ->type_name("cpu|cuda[:sm_N]")
      ->group("Plan");
  app.add_option("--ranks", typed.ranks,
                 "number of ranks of the plan, or least: the fewest on which it fits")
      ->group("Plan")
      ->type_name("N|least")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--memory", [&typed](const std::string &text) { typed.memory = text; },
         "memory budget of one rank, for example 2GiB, or least: the smallest in which a "
         "plan is found; default: from the cluster file")
      ->group("Plan")
      ->type_name("BYTES|least");
  app.add_option_function<std::string>(
         "--host-memory", [&typed](const std::string &text) { typed.hostMemory = text; },
         "memory of its host that a rank may use for values that do not fit, for example 64GiB; "
         "default: none")
      ->group("Plan")
      ->type_name("BYTES");
  app.add_option_function<std::string>(
         "--file-memory", [&typed](const std::string &text) { typed.fileMemory = text; },
         "the same of a disk (CPUs only); cleave-run --file-space is the folder")
      ->group("Plan")
      ->type_name("BYTES");
  app.add_option("--mesh", typed.mesh, "AXIS=N,...: the mesh; default: the planner chooses")
      ->group("Plan");
  app.add_option("--pin", options.pin,
                 "recipes, joined by + as in fsdp+tp:8 where they split, else by commas; or a file "
                 "of rules")
      ->group("Plan")
      ->type_name("dp|zero1|zero2|zero3|fsdp|hsdp|megatron|tp|sp|cp|full-recompute|"
                  "selective-recompute|no-recompute|sharding-first|offload:states|"
                  "offload:parameters|offload:activations|FILE");
  app.add_flag("--eval", options.evaluate,
               "with --train: also plan the evaluation of a micro-batch, for cleave-run --eval")
      ->group("Plan");
  app.add_flag("--eval-ema", options.evaluateAverages,
               "with --eval and --ema: evaluations also give the numbers of the averages")
      ->group("Plan");
  app.add_option("--micro-batch", options.microBatch,
                 "number of micro-batches into which the batch given by --set is cut; auto: the "
                 "fastest number that fits")
      ->group("Plan")
      ->type_name("N|auto");
}

static void addPipelineOptions(CLI::App &app, CompileOptions &options, Typed &typed) {
  app.add_option(
         "--stages", typed.stages,
         "with --train: cut the step into so many stages of a pipeline, among which the ranks "
         "are divided; auto: the fastest number that fits")
      ->group("Plan")
      ->type_name("N|auto")
      ->capture_default_str();
  app.add_option("--schedule", options.schedule,
                 "with --stages: the order of the micro-batches on each stage, or a CSV file as of "
                 "PyTorch's pipelines; auto: the fastest of 1f1b, interleaved, zb-h1 and zb-v; "
                 "default: 1f1b (one forward, one backward)")
      ->group("Plan")
      ->type_name("1f1b|gpipe|interleaved|looped-bfs|zb-h1|zb-h2|interleaved-zb|zb-v|dualpipe-v|"
                  "1f1b-recompute|pre-recompute|last-no-recompute|critical-path|auto|FILE.csv");
  app.add_option("--chunks", options.chunks,
                 "with --stages: parts of the model on each stage; default: as few as suit "
                 "--schedule, two for interleaved")
      ->group("Plan")
      ->type_name("N");
  app.add_option("--cut", options.cut,
                 "with --stages: the layers of each chunk, as Megatron-LM's "
                 "--pipeline-model-parallel-layout writes them, for example Et*7|(t*8|)*2t*9,L; "
                 "default: such that the slowest stage is fastest")
      ->group("Plan")
      ->type_name("LAYOUT");
}

static void addAnswerOptions(CLI::App &app, CompileOptions &options) {
  app.add_flag("--what-if", options.whatIf,
               "also plan with more and less memory, other ranks, micro-batches, recomputation "
               "and mesh, and compare")
      ->group("Answers");
  app.add_option("--pareto", options.pareto,
                 "also write memory against time to NAME.csv and NAME.svg, each point a plan")
      ->group("Answers")
      ->type_name("NAME");
}

static void addInspectionOptions(CLI::App &app, CompileOptions &options) {
  std::vector<std::string> names;
  for (const driver::Phase &phase : driver::phases())
    names.push_back(phase.name);
  app.add_option("--stop-after", options.stopAfter,
                 "write the IR after this phase instead of a plan")
      ->group("Inspection")
      ->type_name(valuesType(names));
  app.add_option("--start-from", options.startFrom, "MODEL is the IR after this phase")
      ->group("Inspection")
      ->type_name(valuesType(names));
  app.add_option("--dump-phases", options.dumpPhases,
                 "write the IR after every phase to this folder")
      ->group("Inspection")
      ->type_name("DIR");
  app.add_option("--problem", options.problem,
                 "also write the planner's cost network of --mesh to this file, for cleave-solve")
      ->group("Inspection")
      ->type_name("FILE");
  app.add_option("--solution", options.solution,
                 "take the plan from this file, which cleave-solve wrote for the network of "
                 "--problem, instead of searching one")
      ->group("Inspection")
      ->type_name("FILE");
  app.add_flag("--timing", options.timing, "print the time of every phase")->group("Inspection");
}

// A number above 0 that is the value of `option`. `other`: a word that is accepted instead.
static Status readNumber(const std::string &option, const std::string &text, const char *other,
                         int64_t &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1)
    return Status::userError(option, ": found '", text, "', expected a number above 0, or ", other);
  return Status::ok();
}

// An amount of memory, if one was given.
static Status readBytes(const char *option, const std::optional<std::string> &text,
                        int64_t &bytes) {
  if (!text)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(const uint64_t found, parseBytes(*text).withContext(option));
  bytes = static_cast<int64_t>(found);
  return Status::ok();
}

static Status check(const Typed &typed, CompileOptions &options) {
  CLEAVE_TRY(tools::checkModelOptions(typed.model, options));
  options.leastMemory = typed.memory == "least";
  if (typed.memory && !options.leastMemory) {
    CLEAVE_TRY_ASSIGN(const uint64_t bytes,
                      parseBytes(*typed.memory, kLeastBudget).withContext("--memory"));
    options.memory = static_cast<int64_t>(bytes);
  }
  CLEAVE_TRY(readBytes("--host-memory", typed.hostMemory, options.hostMemory));
  CLEAVE_TRY(readBytes("--file-memory", typed.fileMemory, options.fileMemory));
  if (!typed.mesh.empty()) {
    CLEAVE_TRY_ASSIGN(options.mesh, Mesh::parse(typed.mesh).withContext("--mesh"));
  }
  options.leastRanks = typed.ranks == "least";
  if (options.leastMemory && (options.leastRanks || options.microBatch == "auto"))
    return Status::userError(
        "--memory least: ", options.leastRanks ? "--ranks least" : "--micro-batch auto",
        " needs an amount of memory; leave one of both out");
  options.autoStages = typed.stages == "auto";
  if (!options.autoStages)
    CLEAVE_TRY(readNumber("--stages", typed.stages, "auto", options.stages));
  return options.leastRanks ? Status::ok()
                            : readNumber("--ranks", typed.ranks, "least", options.ranks);
}

// Planning makes and frees many small tables: what is freed stays with the process.
static void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

int main(int argc, char **argv) {
  keepFreedMemory();
  CLI::App app{"Compiles a model file to a plan: one program per rank for training or inference "
               "on a cluster.",
               "cleave-compile"};
  CompileOptions options;
  Typed typed;
  tools::addModelOptions(app, options, typed.model);
  app.add_option("-o,--output", options.output, "the plan file to write")
      ->required()
      ->type_name("FILE");
  app.add_option(
         "--sign", options.signKey,
         "PEM file of an Ed25519 private key: also write OUTPUT.sig, a signature of the plan")
      ->type_name("KEY");
  tools::addStepOptions(app, options);
  addPlanOptions(app, options, typed);
  addKernelOptions(app, options);
  addPipelineOptions(app, options, typed);
  addAnswerOptions(app, options);
  addInspectionOptions(app, options);
  describeVerbosity("print errors only",
                    "print all remarks, the time of every phase and the summary of the plan");
  addTrainFile(app, "compile");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  options.compileOptions = trainFileSection(app, "compile");
  options.checkKernels = wantsChecks();
  for (int i = 0; i < argc; ++i)
    options.commandLine += (i ? " " : "") + std::string(argv[i]);

  Status status = check(typed, options);
  if (status) {
    driver::Compilation compilation(options);
    compile::ProgressLine progress;
    if (verbosity() != Verbosity::Quiet) {
      compilation.onResult = [&](const std::string &result) {
        progress.clear();
        compile::printResult(result);
      };
      compilation.onProgress = [&](const std::string &text) { progress.show(text); };
    }
    status = driver::compile(compilation);
    progress.clear();
    compile::printReport(compilation, status.isOk());
  }
  return status ? 0 : fail(app.get_name(), status);
}
