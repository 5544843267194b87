// See Import.h. This file: the archive's layout, and inputs and results of the program.
// ModelTensors.h has its tensors, GraphInterpreter.h its nodes.
#include "compiler/frontend/pt2/Import.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/pt2/Autocast.h"
#include "compiler/frontend/pt2/ModelTensors.h"
#include "compiler/frontend/pt2/TensorTypes.h"
#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/step/OptionNames.h"
#include "compiler/frontend/step/RandomKeys.h"
#include "dialects/graph/Graph.h"
#include "runtime/base/MappedFile.h"

namespace cleave::pt2 {
namespace {

using namespace graph;
using aten::TensorRef;
using emit::fail;

constexpr const char *kModelEntry = "models/model.json";
constexpr const char *kOldModelEntry = "serialized_exported_program.json"; // before PyTorch 2.8

// Builds the step of one program.
class ProgramImport {
public:
  ProgramImport(mlir::MLIRContext &context, const std::string &path, const Program &program,
                const Weights &weights, const frontend::ImportOptions &options,
                const frontend::StateNames &states)
      : program_(program), weights_(weights), options_(options),
        symbols_(program, sizesGiven(program, options), options.keepSymbols), step_(context, path),
        states_(step_, states), emitter_(step_.builder(), step_.location(), step_.evaluator()),
        keys_(step_),
        atenContext_{.emitter = emitter_, .batchNorm = options.batchNorm, .random = &keys_},
        interpreter_(atenContext_) {}

  // Returns the states that were missing (ModelStates::addResults).
  frontend::StateNames build() {
    if (!options_.inputs.empty())
      fail("an exported program states the types of its inputs; leave out --input");
    frontend::checkInputNames(options_, userInputs(), /*haveElements=*/false);
    interpreter_.checkTargets(program_.graph);
    tensors_.emplace(program_, weights_, symbols_, options_, step_, states_, emitter_,
                     interpreter_);
    Scope scope;
    for (const InputSpec &input : program_.inputs)
      if (input.kind == InputSpec::Kind::User && !input.name.empty())
        scope[input.name] = addUserInput(input);
    for (const InputSpec &input : program_.inputs)
      addTensor(input, scope);
    step_.commit(); // messages name arguments
    interpreter_.run(program_.graph, scope);
    addResults(scope);
    tensors_->reportStates();
    states_.keepStatistics(atenContext_.statistics);
    keys_.addStateResult();
    return states_.addResults();
  }

  frontend::Imported finish() {
    std::vector<frontend::Remark> remarks = tensors_->remarks();
    llvm::append_range(remarks, warningsOfRegions(program_.graph));
    return step_.finish(std::move(remarks), program_.producer);
  }

private:
  // -- arguments
  std::vector<std::string> userInputs() const {
    std::vector<std::string> names;
    for (const InputSpec &input : program_.inputs)
      if (input.kind == InputSpec::Kind::User && !input.name.empty())
        names.push_back(input.name);
    return names;
  }

  TensorRef addUserInput(const InputSpec &input) {
    if (program_.graph.integers.contains(input.name))
      fail("the input '", input.name,
           "' is a number that may differ from call to call; export the model with a fixed one");
    mlir::RankedTensorType type = typeOf(metaOf(program_, input), input.name, symbols_, emitter_);
    auto known = options_.values.find(input.name);
    return aten::TensorState::create(
        known == options_.values.end()
            ? mlir::Value(step_.addArgument(Role::Input, type, input.name))
            : knownInput(type, input.name, known->second));
  }

  // An input whose value the user fixed, as a constant.
  mlir::Value knownInput(mlir::RankedTensorType type, const std::string &name,
                         const std::vector<double> &values) {
    std::vector<std::optional<int64_t>> dims;
    for (const Polynomial &size : shapeOf(type))
      dims.push_back(size.constant());
    ElementType element = toElementType(type.getElementType());
    return step_.addConstant(name, frontend::knownInput(name, element, dims, values));
  }

  void addTensor(const InputSpec &input, Scope &scope) {
    switch (input.kind) {
    case InputSpec::Kind::User:
    case InputSpec::Kind::Fixed:
      return;
    case InputSpec::Kind::Parameter:
    case InputSpec::Kind::Buffer:
    case InputSpec::Kind::Constant:
      scope[input.name] = tensors_->add(input);
      return;
    case InputSpec::Kind::Other:
      fail("the program has an input of the kind '", input.kindName,
           "', which Cleave does not support");
    }
  }

  // -- results
  void addResults(const Scope &scope) {
    size_t userOutputs = 0;
    std::vector<std::pair<std::string, mlir::Value>> written; // after all results are read
    for (const OutputSpec &output : program_.outputs) {
      switch (output.kind) {
      case OutputSpec::Kind::User:
        addOutput(output, program_.outputNames[userOutputs++], scope);
        break;
      case OutputSpec::Kind::Loss:
        addOutput(output, "loss", scope);
        break;
      case OutputSpec::Kind::Buffer:
      case OutputSpec::Kind::Parameter:
        written.emplace_back(output.target, valueOf(output, scope).tensor()->read(emitter_));
        break;
      case OutputSpec::Kind::Input: // inputs are not kept after the step
        break;
      case OutputSpec::Kind::Other:
        fail("the program has an output of the kind '", output.kindName,
             "', which Cleave does not support; export the forward computation alone");
      }
    }
    for (const auto &[name, value] : written)
      tensors_->write(name, value);
  }

  const aten::IValue &valueOf(const OutputSpec &output, const Scope &scope) {
    const aten::IValue &value = interpreter_.lookUp(scope, output.value.text);
    if (value.isTensor() && !value.tensor())
      fail("'", output.value.text, "' is an output and cannot be untied");
    if (aten::asComplex(value) && !output.target.empty())
      fail("the program writes to '", output.target,
           "', which holds complex numbers; keep their two parts (torch.view_as_real)");
    return value;
  }

  void addOutput(const OutputSpec &output, const std::string &name, const Scope &scope) {
    if (output.value.kind != Argument::Kind::Name)
      return; // a literal
    const aten::IValue &value = valueOf(output, scope);
    aten::checkRealOutput(value, name);
    if (value.isTensor())
      step_.addOutput(value.tensor()->read(emitter_), name);
  }

  const Program &program_;
  const Weights &weights_;
  const frontend::ImportOptions &options_;
  Symbols symbols_;
  frontend::StepBuilder step_;
  frontend::ModelStates states_;
  emit::Emitter emitter_;
  frontend::RandomKeys keys_;
  aten::Context atenContext_;
  GraphInterpreter interpreter_;
  std::optional<ModelTensors> tensors_; // once the options are checked
};

// Whether a zip archive is a torch.export archive.
bool isExported(const torch::Archive &archive) {
  return archive.find(kModelEntry) || archive.find("archive_format") ||
         archive.find(kOldModelEntry);
}

Program readModel(const torch::Archive &archive) {
  if (archive.find(kOldModelEntry))
    fail("the archive was written by ", producerOf(archive.source(kOldModelEntry)),
         " in the layout before 2.8; export the model again with a newer PyTorch: "
         "torch.export.save(torch.export.export(model, inputs), FILE)");
  if (archive.find(kModelEntry))
    return readProgram(archive.source(kModelEntry));
  std::vector<std::string> models = archive.namesWith("models/");
  if (models.size() == 1)
    return readProgram(archive.source(models[0]));
  std::string names;
  for (const std::string &model : models)
    names += (names.empty() ? "" : ", ") + model;
  fail(models.empty()
           ? "the archive holds no model (models/model.json)"
           : "the archive holds several models (" + names + "); save the one to compile by itself");
}

} // namespace

bool recognises(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file || !torch::Archive::recognises((*file)->text()))
    return false;
  try {
    return isExported(torch::Archive(path));
  } catch (const emit::Failure &) {
    return false;
  }
}

Result<frontend::Imported> importExported(mlir::MLIRContext &context, const std::string &path,
                                          const frontend::ImportOptions &options) {
  try {
    context.loadDialect<GraphDialect, mlir::func::FuncDialect>();
    torch::Archive archive(path);
    Program program = readModel(archive);
    Weights weights(archive);
    std::optional<ProgramImport> import;
    frontend::buildUntilStatesAreKnown([&](const frontend::StateNames &states) {
      import.emplace(context, path, program, weights, options, states);
      return import->build();
    });
    return import->finish();
  } catch (const emit::Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::pt2
