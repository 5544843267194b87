// cleave-export: writes trained weights from a checkpoint to an ONNX or safetensors file.
#include "compiler/frontend/onnx/WeightExport.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/torchscript/Import.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/commandline/CommandLine.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <set>

using namespace cleave;

namespace {
struct Options {
  std::string plan, checkpoint, output, model;
  std::vector<std::string> ties, unties;
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

// Names of trained parameters and model states.
static std::set<std::string> namesOfModel(const plan::Plan &plan) {
  std::set<std::string> names;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::PARAMETER || artifact::isModelState(tensor))
      names.insert(tensor.name());
  return names;
}

static Status checkComplete(const std::set<std::string> &names,
                            const checkpoint::Checkpoint &checkpoint) {
  for (const std::string &name : names)
    if (!checkpoint.tensors().contains(name))
      return Status::userError("checkpoint ", checkpoint.path(), " has no tensor '", name,
                               "' of the plan; give the checkpoint of a run of this plan");
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
                        const std::set<std::string> &names,
                        const checkpoint::Checkpoint &checkpoint) {
  if (pt2::recognises(model) || torchscript::recognises(model))
    return Status::userError("'", model,
                             "' is an archive of PyTorch, expected an ONNX file; write ",
                             "a .safetensors file, which PyTorch loads into the model and "
                             "cleave-run --weights into a plan of it");
  CLEAVE_TRY_ASSIGN(frontend::ImportOptions import, importOptions(options));
  onnx::NewValues values;
  values.names = names;
  values.read = [&](const std::string &name, ElementType element, const std::vector<int64_t> &shape,
                    void *destination) {
    return checkpoint.read(name, dtypeOf(element), shape, std::vector<int64_t>(shape.size(), 0),
                           shape, destination);
  };
  return onnx::exportWeights(model, import, values, options.output);
}

static Status run(const Options &options) {
  bool isOnnx = options.output.ends_with(".onnx");
  if (!isOnnx && !options.output.ends_with(".safetensors"))
    return Status::userError("found the output '", options.output,
                             "', expected a name that ends in .onnx or .safetensors");
  CLEAVE_TRY_ASSIGN(plan::Plan plan, artifact::readPlan(options.plan));
  CLEAVE_TRY_ASSIGN(auto checkpoint, checkpoint::Checkpoint::open(options.checkpoint));
  std::set<std::string> names = namesOfModel(plan);
  CLEAVE_TRY(checkComplete(names, *checkpoint));
  std::string model = options.model.empty() ? plan.source().path() : options.model;
  if (isOnnx && model.empty())
    return Status::userError("'", options.plan,
                             "' was made from IR that names no model file; give one with --model, "
                             "or write a .safetensors file");
  auto isNeeded = [&](const std::string &name) { return names.contains(name); };
  CLEAVE_TRY(isOnnx ? writeOnnx(options, model, names, *checkpoint)
                    : checkpoint->exportSafetensors(options.output, isNeeded));
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
  app.add_option("-o,--output", options.output, "output file: .onnx or .safetensors")
      ->required()
      ->type_name("FILE");
  app.add_option("--model", options.model,
                 "path of the model file, if it has moved since compilation")
      ->type_name("FILE");
  app.add_option("--tie", options.ties, "as given to cleave-compile")->delimiter(',');
  app.add_option("--untie", options.unties, "as given to cleave-compile")->delimiter(',');
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = run(options);
  if (!status)
    return fail("cleave-export", status);
  return status.exitCode();
}
