// cleave-compile: a model file and a description of the machines in, a plan out.
#include "Report.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/Phases.h"
#include "runtime/base/Units.h"
#include "tools/commandline/CommandLine.h"

using namespace cleave;
using driver::CompileOptions;

namespace {
// Options as they are typed, before they are checked.
struct Typed {
  std::vector<std::string> symbols, values, ties;
  std::string memory;
};
} // namespace

static void addStepOptions(CLI::App &app, CompileOptions &options) {
  app.add_flag("--train", options.train, "plan training steps (default: inference)")
      ->group("Training");
  app.add_option("--loss", options.losses,
                 "KIND:OUTPUT[,LABEL]: softmax-cross-entropy, mse or output; several are summed")
      ->group("Training");
  app.add_option("--optimizer", options.optimizer,
                 "KIND[:OPTION=VALUE,...]: sgd, momentum, adam or adamw, with PyTorch's meaning")
      ->group("Training")
      ->capture_default_str();
  app.add_option("--trainable", options.trainable,
                 "names (globs) of what is trained; default: all parameters")
      ->group("Training");
  app.add_option("--freeze", options.freeze, "names (globs) of what is not trained")
      ->group("Training");
  app.add_option("--clip-norm", options.clipNorm, "clip gradients to this global norm; 0: do not")
      ->group("Training")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--accumulate", options.accumulate, "micro-batches per step")
      ->group("Training")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-norm", options.batchNorm, "train or frozen statistics")
      ->group("Training")
      ->check(CLI::IsMember({"train", "frozen"}))
      ->capture_default_str();
}

static void addModelOptions(CLI::App &app, CompileOptions &options, Typed &typed) {
  app.add_option("MODEL", options.model, "ONNX file")->required();
  app.add_option("-o,--output", options.output, "the plan file to write")->required();
  app.add_option("--set", typed.symbols, "SYMBOL=N: the size of a symbolic dim")
      ->delimiter(',')
      ->group("Model");
  app.add_option("--value", typed.values, "INPUT=1,2,3: the input has this value, always")
      ->group("Model");
  app.add_option("--tie", typed.ties, "A=B: two parameters are one")
      ->delimiter(',')
      ->group("Model");
  app.add_option("--untie", options.unties, "A: every module that reads A has its own")
      ->delimiter(',')
      ->group("Model");
  app.add_option("--input", options.inputs,
                 "NAME=TYPE[DIM,...]: an input whose type the file does not tell")
      ->allow_extra_args(false)
      ->group("Model");
}

static void addPlanOptions(CLI::App &app, CompileOptions &options, Typed &typed) {
  app.add_option("--cluster", options.cluster, "local-cpu, a preset's name or a cluster file")
      ->group("Plan")
      ->capture_default_str();
  app.add_option("--ranks", options.ranks, "how many ranks the plan is for")
      ->group("Plan")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--memory", typed.memory,
                 "budget of one rank, as 2GiB; default: what the cluster file says")
      ->group("Plan");
  app.add_option("--mesh", options.mesh, "AXIS=N,...: the mesh; default: the planner chooses")
      ->group("Plan");
  app.add_option("--pin", options.pin,
                 "a recipe (dp, zero1, zero2, zero3, megatron) or a file of rules")
      ->group("Plan");
}

static void addInspectionOptions(CLI::App &app, CompileOptions &options) {
  std::string names;
  for (const driver::Phase &phase : driver::phases())
    names += std::string(names.empty() ? "" : ", ") + phase.name;
  app.add_option("--stop-after", options.stopAfter,
                 "write the IR after this phase instead of a plan: " + names)
      ->group("Looking inside");
  app.add_option("--start-from", options.startFrom, "MODEL is the IR that this phase left")
      ->group("Looking inside");
  app.add_option("--dump-phases", options.dumpPhases,
                 "write the IR after every phase to this folder")
      ->group("Looking inside");
  app.add_flag("--timing", options.timing, "print the time that every phase took")
      ->group("Looking inside");
}

// NAME=VALUE, both not empty.
static Result<std::pair<std::string, std::string>> splitPair(const std::string &text,
                                                             const std::string &option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Status::userError(option + ": found '" + text + "', expected NAME=VALUE");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// INPUT=1,2,3; nothing behind the `=` is a tensor without elements.
static Status addValue(const std::string &text, CompileOptions &options) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Status::userError("--value: found '" + text + "', expected INPUT=NUMBER,...");
  std::vector<double> &values = options.values[text.substr(0, equals)];
  for (const char *at = text.c_str() + equals + 1; *at;) {
    char *end = nullptr;
    values.push_back(std::strtod(at, &end));
    if (end == at || (*end != ',' && *end))
      return Status::userError("--value: found '" + text + "', expected INPUT=NUMBER,...");
    at = *end ? end + 1 : end;
  }
  return Status::ok();
}

static Status check(const Typed &typed, CompileOptions &options) {
  for (const std::string &text : typed.symbols) {
    auto pair = splitPair(text, "--set");
    CLEAVE_TRY(pair.status());
    char *end = nullptr;
    long long value = std::strtoll(pair->second.c_str(), &end, 10);
    if (*end || value < 1)
      return Status::userError("--set: found '" + text + "', expected a positive number after '='");
    options.symbols[pair->first] = value;
  }
  for (const std::string &text : typed.values)
    CLEAVE_TRY(addValue(text, options));
  for (const std::string &text : typed.ties) {
    auto pair = splitPair(text, "--tie");
    CLEAVE_TRY(pair.status());
    options.ties.push_back(*pair);
  }
  if (!typed.memory.empty()) {
    Result<uint64_t> bytes = parseBytes(typed.memory);
    CLEAVE_TRY(bytes.status().withContext("--memory"));
    options.memoryBytes = *bytes;
  }
  if (options.train && options.losses.empty())
    return Status::userError(
        "--train needs a loss, for example --loss softmax-cross-entropy:logits,labels");
  if (!options.train && !options.losses.empty())
    return Status::userError("--loss is given without --train; add --train to plan training steps");
  return Status::ok();
}

int main(int argc, char **argv) {
  CLI::App app{"Turns a model file into a plan: one program per rank for training it (or running "
               "it) on a cluster.",
               "cleave-compile"};
  CompileOptions options;
  Typed typed;
  addModelOptions(app, options, typed);
  addStepOptions(app, options);
  addPlanOptions(app, options, typed);
  addInspectionOptions(app, options);
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  for (int i = 0; i < argc; ++i)
    options.commandLine += (i ? " " : "") + std::string(argv[i]);

  Status status = check(typed, options);
  if (status) {
    driver::Compilation compilation(options);
    status = driver::compile(compilation);
    printReport(compilation, status.isOk());
  }
  return status ? 0 : fail(app.get_name(), status);
}
