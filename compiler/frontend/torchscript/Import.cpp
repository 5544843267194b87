// See Import.h. This file: runs the program until it is known which buffers it writes.
#include "compiler/frontend/torchscript/Import.h"

#include "compiler/frontend/step/RandomKeys.h"
#include "compiler/frontend/torch/Quantized.h"
#include "compiler/frontend/torchscript/ForwardInputs.h"
#include "compiler/frontend/torchscript/Limits.h"
#include "compiler/frontend/torchscript/ModelValues.h"
#include "compiler/frontend/torchscript/Outputs.h"
#include "compiler/frontend/torchscript/ScriptInterpreter.h"
#include "compiler/frontend/torchscript/Usage.h"
#include "runtime/base/MappedFile.h"

#include <charconv>

namespace cleave::torchscript {
namespace {

using emit::fail;
using frontend::ImportOptions;

// The version that the archive states; `?` if it states none.
std::string versionString(const torch::Archive &archive) {
  std::string version = "?";
  for (const char *name : {"version", ".data/version"})
    if (archive.find(name))
      version = archive.contents(name, 1024);
  while (!version.empty() && (version.back() == '\n' || version.back() == ' '))
    version.pop_back();
  return version;
}

int64_t versionOf(const torch::Archive &archive) {
  std::string text = versionString(archive);
  const char *end = text.data() + text.size();
  int64_t number = 0;
  bool isNumber = !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
  return isNumber ? number : kNewestVersion;
}

// Builds the step of one archive.
class ScriptImport {
public:
  ScriptImport(mlir::MLIRContext &context, const std::string &path, const ImportOptions &options)
      : context_(context), path_(path), options_(options), archive_(path), program_(archive_),
        model_(archive_, program_, options), inputs_(program_, model_, options) {}

  frontend::Imported run() {
    inputs_.checkNames();
    // Small buffers are constants, which may decide branches, until one turns out to be written.
    std::optional<frontend::StepBuilder> step;
    std::vector<frontend::Remark> remarks;
    frontend::buildUntilStatesAreKnown([&](const frontend::StateNames &states) {
      step.emplace(context_, path_);
      remarks = model_.remarks();
      return buildStep(*step, states, remarks);
    });
    for (const auto &[other, parameter] : model_.otherNames())
      step->nameAlso(other, parameter);
    return step->finish(std::move(remarks),
                        "torch.jit, archive version " + versionString(archive_));
  }

private:
  // Returns the states that were missing (ModelStates::addResults).
  frontend::StateNames buildStep(frontend::StepBuilder &step, const frontend::StateNames &names,
                                 std::vector<frontend::Remark> &remarks) {
    emit::Emitter emitter(step.builder(), step.location(), step.evaluator());
    frontend::RandomKeys keys(step);
    aten::Context context{.emitter = emitter, .batchNorm = options_.batchNorm, .random = &keys};
    frontend::ModelStates states(step, names);
    ModelValues values(archive_, model_, states, step, emitter);
    auto constant = [&](const std::string &name) { return values.constant(name); };
    auto locate = [&](const std::string &path, const std::string &op) {
      emitter.loc = locationOf(path, op);
    };
    IValueList inputs = inputs_.add(step);
    InstanceRef model = model_.instantiate([&](size_t index) { return values.addTensor(index); });
    step.commit(); // messages name arguments
    KeptAttributes attributes(*model);
    ScriptInterpreter interpreter(program_, {.context = context,
                                             .constant = constant,
                                             .locate = locate,
                                             .remarks = remarks,
                                             .version = versionOf(archive_)});
    try {
      addOutputs(interpreter.callMethod(model, "forward", inputs), step, emitter);
    } catch (const UnknownOperator &unknown) {
      failOn(unknown.name);
    }
    values.reportStates(attributes);
    states.keepStatistics(context.statistics);
    keys.addStateResult();
    return states.addResults();
  }

  // An operator, and the module that calls it as its child.
  mlir::Location locationOf(const std::string &path, const std::string &op) {
    if (path.empty())
      return mlir::NameLoc::get(mlir::StringAttr::get(&context_, op),
                                mlir::UnknownLoc::get(&context_));
    return mlir::NameLoc::get(mlir::StringAttr::get(&context_, path + "." + op),
                              mlir::NameLoc::get(mlir::StringAttr::get(&context_, path)));
  }

  // Fails with all unsupported operators of the archive, reached or not.
  [[noreturn]] void failOn(const std::string &name) {
    std::map<std::string, std::string> all = unknownOperators(program_);
    for (const auto &[other, place] : all)
      if (torch::isQuantizedOperator(other))
        torch::failOnQuantized("the model calls " + other + " (" + place + ")");
    std::string others;
    for (const auto &[other, place] : all)
      if (other != name)
        others += (others.empty() ? "" : ", ") + other + " (" + place + ")";
    fail("the model calls ", name, " (", all[name], "), which Cleave does not support",
         (others.empty() ? "" : "; its code also has, maybe where it is not run, " + others));
  }

  mlir::MLIRContext &context_;
  std::string path_;
  const ImportOptions &options_;
  torch::Archive archive_;
  Program program_;
  Model model_;
  ForwardInputs inputs_;
};

} // namespace

bool recognises(const std::string &path) {
  auto file = MappedFile::open(path);
  return file && torch::Archive::recognises((*file)->text());
}

Result<frontend::Imported> importTorchScript(mlir::MLIRContext &context, const std::string &path,
                                             const ImportOptions &options) {
  try {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    return ScriptImport(context, path, options).run();
  } catch (const emit::Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::torchscript
