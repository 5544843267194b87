// cleave-export: writes trained weights from a checkpoint to an ONNX or safetensors file.
#include "compiler/frontend/onnx/WeightExport.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/torchscript/Import.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/base/Units.h"
#include "runtime/checkpoint/Best.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Export.h"
#include "tools/commandline/CommandLine.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>

using namespace cleave;

namespace {
struct Options {
  std::string plan, checkpoint, output, model;
  std::vector<std::string> ties, unties, renames;
  std::string mostBytes; // of a file; empty: no limit
  bool averages = false; // --ema
  bool states = false;
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
// written as their values: the same, or, of a parameter, its moving average. With --states, the
// states of the optimizer by their names instead.
static std::map<std::string, std::string> sourcesOf(const plan::Plan &plan,
                                                    const Options &options) {
  std::map<std::string, std::string> sources;
  for (const plan::Tensor &tensor : plan.tensors())
    if (options.states) {
      if (artifact::isOptimizerState(tensor))
        sources[tensor.name()] = tensor.name();
    } else if (tensor.role() == plan::PARAMETER)
      sources[tensor.name()] = tensor.name() + (options.averages ? "/ema" : "");
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

// The name in the file of every tensor of the checkpoint, with --rename: the first FROM that a name
// begins with is replaced by its TO.
static Result<std::map<std::string, std::string>>
namesInFile(const Options &options, const std::map<std::string, std::string> &sources) {
  std::map<std::string, std::string> renamed, origin;
  std::vector<bool> isUsed(options.renames.size());
  for (const auto &[name, source] : sources) {
    std::string &to = renamed[source] = name;
    for (size_t i = 0; i < options.renames.size() && to == name; ++i) {
      const std::string &rule = options.renames[i];
      size_t equals = rule.find('=');
      if (equals == std::string::npos)
        return Status::userError("--rename: found '", rule, "', expected FROM=TO");
      if (!name.starts_with(rule.substr(0, equals)))
        continue;
      isUsed[i] = true;
      to = rule.substr(equals + 1) + name.substr(equals);
    }
    if (auto [at, isNew] = origin.emplace(to, name); !isNew)
      return Status::userError("--rename gives '", at->second, "' and '", name, "' the same name '",
                               to, "'");
  }
  for (size_t i = 0; i < isUsed.size(); ++i)
    if (!isUsed[i])
      return Status::userError("--rename '", options.renames[i],
                               "': no tensor has a name that begins so, for example '",
                               sources.empty() ? "" : sources.begin()->first, "'");
  return renamed;
}

static Status writeSafetensors(const Options &options,
                               const std::map<std::string, std::string> &sources,
                               const checkpoint::Checkpoint &checkpoint) {
  checkpoint::ExportOptions to{.path = options.output, .names = {}, .mostBytes = 0};
  CLEAVE_TRY_ASSIGN(to.names, namesInFile(options, sources));
  if (!options.mostBytes.empty()) {
    CLEAVE_TRY_ASSIGN(to.mostBytes,
                      parseBytes(options.mostBytes, kLeastBudget).withContext("--max-shard-size"));
  }
  CLEAVE_TRY_ASSIGN(auto written, checkpoint::exportSafetensors(checkpoint, to));
  if (verbosity() == Verbosity::Quiet)
    return Status::ok();
  std::cout << written.back() << ": " << sources.size() << " tensors of step "
            << checkpoint.progress().step;
  if (written.size() > 1)
    std::cout << " in " << written.size() - 1 << " files";
  std::cout << "\n";
  return Status::ok();
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
  std::map<std::string, std::string> sources = sourcesOf(plan, options);
  CLEAVE_TRY(checkComplete(sources, *checkpoint, options.averages));
  std::string model = options.model.empty() ? plan.source().path() : options.model;
  if (isOnnx && model.empty())
    return Status::userError("'", options.plan,
                             "' was made from IR that names no model file; give one with --model, "
                             "or write a .safetensors file");
  if (!isOnnx)
    return writeSafetensors(options, sources, *checkpoint);
  if (options.states)
    return Status::userError("--states is for .safetensors files; an ONNX file has no place for "
                             "the states of an optimizer");
  if (!options.renames.empty() || !options.mostBytes.empty())
    return Status::userError(
        options.renames.empty() ? "--max-shard-size" : "--rename",
        " is for .safetensors files; an ONNX file keeps the names and files of the model");
  CLEAVE_TRY(writeOnnx(options, model, sources, *checkpoint));
  if (verbosity() != Verbosity::Quiet)
    std::cout << options.output << ": " << sources.size() << " tensors of step "
              << checkpoint->progress().step << "\n";
  return Status::ok();
}

int main(int argc, char **argv) {
  CLI::App app{"Writes trained weights to a copy of the ONNX file or to a safetensors file.",
               "cleave-export"};
  Options options;
  app.add_option("PLAN", options.plan, "the executed plan")->required()->type_name("FILE");
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
  CLI::Option *averages = app.add_flag(
      "--ema", options.averages,
      "moving averages of the parameters instead of the parameters (cleave-compile --ema)");
  app.add_flag("--states", options.states,
               "of .safetensors: the states of the optimizer instead of the parameters")
      ->excludes(averages);
  app.add_option("--max-shard-size", options.mostBytes,
                 "of .safetensors: files of at most this size, for example 5GB, and an index")
      ->type_name("BYTES");
  app.add_option("--rename", options.renames,
                 "of .safetensors: names that begin with FROM begin with TO instead, for example "
                 "model.= ; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FROM=TO");
  app.add_option("--tie", options.ties, "as given to cleave-compile")->delimiter(',');
  app.add_option("--untie", options.unties, "as given to cleave-compile")->delimiter(',');
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = run(options);
  if (!status)
    return fail("cleave-export", status);
  return status.exitCode();
}
