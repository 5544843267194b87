// cleave-export: writes trained weights from a checkpoint to an ONNX or safetensors file.
#include "compiler/frontend/onnx/WeightExport.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/torchscript/Import.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/checkpoint/Best.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/commandline/CommandLine.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>

using namespace cleave;

namespace {
struct Options {
  std::string plan, checkpoint, output, model;
  std::vector<std::string> ties, unties;
  bool averages = false; // --ema
  bool best = false;
};
} // namespace

static DType dtypeOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return DType::F64;
  case ElementType::F32:
    return DType::F32;
  case ElementType::F16:
    return DType::F16;
  case ElementType::BF16:
    return DType::BF16;
  case ElementType::I64:
    return DType::I64;
  case ElementType::I32:
    return DType::I32;
  case ElementType::I16:
    return DType::I16;
  case ElementType::I8:
    return DType::I8;
  case ElementType::U8:
    return DType::U8;
  case ElementType::U16:
    return DType::U16;
  case ElementType::U32:
    return DType::U32;
  case ElementType::U64:
    return DType::U64;
  case ElementType::Bool:
    return DType::Bool;
  }
  return DType::F32;
}

// The names of trained parameters and model states, and the tensors of the checkpoint that are
// written as their values: the same, or, of a parameter, its moving average.
static std::map<std::string, std::string> sourcesOf(const plan::Plan &plan, bool averages) {
  std::map<std::string, std::string> sources;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::PARAMETER)
      sources[tensor.name()] = tensor.name() + (averages ? "/ema" : "");
    else if (artifact::isModelState(tensor))
      sources[tensor.name()] = tensor.name();
  return sources;
}

static Status checkComplete(const std::map<std::string, std::string> &sources,
                            const checkpoint::Checkpoint &checkpoint, bool averages) {
  for (const auto &[name, source] : sources)
    if (!checkpoint.tensors().contains(source))
      return Status::userError("checkpoint ", checkpoint.path(), " has no tensor '", source,
                               averages ? "'; --ema needs the checkpoint of a plan that was "
                                          "compiled with --ema"
                                        : "' of the plan; give the checkpoint of a run of this "
                                          "plan");
  return Status::ok();
}

static Result<frontend::ImportOptions> importOptions(const Options &options) {
  frontend::ImportOptions out;
  out.untie = options.unties;
  for (const std::string &text : options.ties) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      return Status::userError("--tie: found '", text, "', expected NAME=NAME");
    out.tie.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

static Status writeOnnx(const Options &options, const std::string &model,
                        const std::map<std::string, std::string> &sources,
                        const checkpoint::Checkpoint &checkpoint) {
  if (pt2::recognises(model) || torchscript::recognises(model))
    return Status::userError("'", model,
                             "' is an archive of PyTorch, expected an ONNX file; write ",
                             "a .safetensors file, which PyTorch loads into the model and "
                             "cleave-run --weights into a plan of it");
  CLEAVE_TRY_ASSIGN(frontend::ImportOptions import, importOptions(options));
  onnx::NewValues values;
  for (const auto &[name, source] : sources)
    values.names.insert(name);
  values.read = [&](const std::string &name, ElementType element, const std::vector<int64_t> &shape,
                    void *destination) {
    return checkpoint.read(sources.at(name), dtypeOf(element), shape,
                           std::vector<int64_t>(shape.size(), 0), shape, destination);
  };
  return onnx::exportWeights(model, import, values, options.output);
}

static Status run(const Options &options) {
  bool isOnnx = options.output.ends_with(".onnx");
  if (!isOnnx && !options.output.ends_with(".safetensors"))
    return Status::userError("found the output '", options.output,
                             "', expected a name that ends in .onnx or .safetensors");
  CLEAVE_TRY_ASSIGN(plan::Plan plan, artifact::readPlan(options.plan));
  std::string folder = options.checkpoint;
  if (options.best) {
    CLEAVE_TRY_ASSIGN(folder, checkpoint::bestCheckpoint(options.checkpoint));
  }
  CLEAVE_TRY_ASSIGN(auto checkpoint, checkpoint::Checkpoint::open(folder));
  std::map<std::string, std::string> sources = sourcesOf(plan, options.averages);
  CLEAVE_TRY(checkComplete(sources, *checkpoint, options.averages));
  std::string model = options.model.empty() ? plan.source().path() : options.model;
  if (isOnnx && model.empty())
    return Status::userError("'", options.plan,
                             "' was made from IR that names no model file; give one with --model, "
                             "or write a .safetensors file");
  std::map<std::string, std::string> names; // in the file, by that in the checkpoint
  for (const auto &[name, source] : sources)
    names[source] = name;
  auto nameInFile = [&](const std::string &stored) {
    auto name = names.find(stored);
    return name == names.end() ? "" : name->second;
  };
  CLEAVE_TRY(isOnnx ? writeOnnx(options, model, sources, *checkpoint)
                    : checkpoint->exportSafetensors(options.output, nameInFile));
  std::cout << options.output << ": " << names.size() << " tensors of step "
            << checkpoint->progress().step << "\n";
  return Status::ok();
}

int main(int argc, char **argv) {
  CLI::App app{"Writes trained weights to a copy of the ONNX file or to a safetensors file.",
               "cleave-export"};
  Options options;
  app.add_option("PLAN", options.plan, "the executed plan")->required();
  app.add_option("--checkpoint", options.checkpoint, "folder written by cleave-run --save")
      ->required()
      ->type_name("DIR");
  app.add_flag("--best", options.best, "the best checkpoint of the folder (--keep-best)");
  app.add_option("-o,--output", options.output, "output file: .onnx or .safetensors")
      ->required()
      ->type_name("FILE");
  app.add_option("--model", options.model,
                 "path of the model file, if it has moved since compilation")
      ->type_name("FILE");
  app.add_flag(
      "--ema", options.averages,
      "moving averages of the parameters instead of the parameters (cleave-compile --ema)");
  app.add_option("--tie", options.ties, "as given to cleave-compile")->delimiter(',');
  app.add_option("--untie", options.unties, "as given to cleave-compile")->delimiter(',');
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = run(options);
  if (!status)
    return fail("cleave-export", status);
  return status.exitCode();
}
