// See Import.h. Here: the step function around the program: its inputs, parameters, buffers and
// results. The nodes are Interpreter.h's.
#include "compiler/frontend/pt2/Import.h"

#include "compiler/frontend/step/FinishStep.h"
#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/pt2/Interpreter.h"
#include "compiler/frontend/pt2/Symbols.h"
#include "compiler/frontend/pt2/Weights.h"
#include "compiler/frontend/torch/Origin.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

namespace cleave::pt2 {
namespace {

using namespace graph;
using aten::TensorRef;
using emit::fail;
using frontend::Remark;

// Tensors up to this size become constants, larger ones arguments of the step.
constexpr int64_t kMaxConstantBytes = 4096;

constexpr const char *kModelEntry = "models/model.json";
constexpr const char *kOldModelEntry = "serialized_exported_program.json"; // before PyTorch 2.8

// Whether the node's operator writes to its first argument: `torch.ops.aten.add_.Tensor`.
bool isInPlace(const Node &node) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(node.target).split(parts, '.');
  return parts.size() >= 4 && aten::isInPlace((parts[2] + "::" + parts[3]).str());
}

// The buffers that the program writes: those that it says so of, and those that an in-place operator
// or a batch norm gets.
std::set<std::string> writtenBuffers(const Program &program) {
  std::map<std::string, std::string> byName;
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::Buffer)
      byName[input.name] = input.target;
  std::set<std::string> out;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::Buffer)
      out.insert(output.target);
  for (const Node &node : program.graph.nodes) {
    bool writes = isInPlace(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NamedArgument &input = node.inputs[i];
      bool isWritten =
          (i == 0 && writes) || input.name == "running_mean" || input.name == "running_var";
      if (auto found = byName.find(input.value.text); isWritten && found != byName.end())
        out.insert(found->second);
    }
  }
  return out;
}

class Importer {
public:
  Importer(mlir::MLIRContext &context, const std::string &path, const Program &program,
           const Weights &weights, const frontend::ImportOptions &options)
      : context_(context), path_(path), program_(program), weights_(weights), options_(options),
        symbols_(program, sizesGiven(program, options), options.keepSymbols), b_(&context),
        emitter_(b_, mlir::UnknownLoc::get(&context), evaluator_), atenContext_{emitter_},
        interpreter_(atenContext_) {
    evaluator_.countOpsOf(b_);
    using From = frontend::ImportOptions::BatchNorm;
    using To = aten::Context::BatchNorm;
    atenContext_.batchNorm = options.batchNorm == From::Train    ? To::Train
                             : options.batchNorm == From::Frozen ? To::Frozen
                                                                 : To::AsExported;
  }

  frontend::Imported run() {
    if (!options_.inputs.empty())
      fail("an exported program says the types of its inputs; leave out --input");
    checkValues();
    interpreter_.checkTargets(program_.graph);
    makeStep();
    checkTies();
    written_ = writtenBuffers(program_);
    Scope scope;
    for (const InputSpec &input : program_.inputs)
      if (input.kind == InputSpec::Kind::User)
        addUserInput(input, scope);
    signature_->commit(); // messages name inputs
    for (const InputSpec &input : program_.inputs)
      addInput(input, scope);
    interpreter_.run(program_.graph, scope);
    addResults(scope);
    addStates();
    frontend::finishStep(*module_, path_, evaluator_.assumptions());
    return {std::move(module_), std::move(remarks_), program_.producer};
  }

private:
  void makeStep() {
    auto location = mlir::FileLineColLoc::get(&context_, path_, 0, 0);
    module_ = mlir::ModuleOp::create(location);
    b_.setInsertionPointToStart(module_->getBody());
    step_ = mlir::func::FuncOp::create(b_, location, kStepName, b_.getFunctionType({}, {}));
    b_.setInsertionPointToStart(step_.addEntryBlock());
    b_.setInsertionPoint(mlir::func::ReturnOp::create(b_, location));
    signature_.emplace(step_);
    emitter_.loc = location;
  }

  // -- arguments
  const TensorMeta &metaOf(const InputSpec &input) {
    auto found = program_.graph.tensors.find(input.name);
    if (found == program_.graph.tensors.end())
      fail("the program does not say what '" + input.name + "' is");
    return found->second;
  }

  mlir::RankedTensorType typeOf(const TensorMeta &meta, const std::string &name) {
    if (!meta.element)
      fail("'" + name + "' has elements of " + meta.dtypeName +
           ", which Cleave does not compute with");
    Shape shape;
    for (const Size &size : meta.sizes)
      shape.push_back(symbols_.resolve(size, "'" + name + "'"));
    return emitter_.type(shape, fromElementType(*meta.element, &context_));
  }

  void addUserInput(const InputSpec &input, Scope &scope) {
    if (input.name.empty())
      return;
    if (program_.graph.integers.contains(input.name))
      fail("the input '" + input.name +
           "' is a number that may differ from call to call; export the model with a fixed one");
    if (auto known = options_.values.find(input.name); known != options_.values.end()) {
      scope[input.name] = knownInput(input, known->second);
      return;
    }
    mlir::RankedTensorType type = typeOf(metaOf(input), input.name);
    scope[input.name] =
        aten::TensorState::create(signature_->addArgument(type, input.name, "input"));
  }

  // An input whose value the user fixed, as a constant.
  TensorRef knownInput(const InputSpec &input, const std::vector<double> &values) {
    mlir::RankedTensorType type = typeOf(metaOf(input), input.name);
    std::vector<std::optional<int64_t>> dims;
    for (const Polynomial &size : shapeOf(type))
      dims.push_back(size.constant());
    emitter_.loc = mlir::NameLoc::get(b_.getStringAttr(input.name));
    return aten::TensorState::create(emitter_.constant(
        frontend::knownInput(input.name, toElementType(type.getElementType()), dims, values)));
  }

  void checkValues() {
    for (const auto &[name, values] : options_.values)
      if (llvm::none_of(program_.inputs, [&](const InputSpec &input) {
            return input.kind == InputSpec::Kind::User && input.name == name;
          }))
        fail("--value " + name + "=…: the model has no input '" + name + "'");
  }

  void addInput(const InputSpec &input, Scope &scope) {
    switch (input.kind) {
    case InputSpec::Kind::User:
    case InputSpec::Kind::Fixed:
      return;
    case InputSpec::Kind::Parameter:
      scope[input.name] = parameter(input);
      return;
    case InputSpec::Kind::Buffer:
      scope[input.name] = buffer(input);
      return;
    case InputSpec::Kind::Constant:
      scope[input.name] = constant(input);
      return;
    case InputSpec::Kind::Other:
      fail("the program has an input of the kind '" + input.kindName +
           "', which Cleave does not read");
    }
  }

  TensorRef argument(const InputSpec &input, const std::string &name, const char *role) {
    TensorMeta meta = metaOf(input);
    torch::StridedTensor data = weights_.find(input.target, meta);
    TensorOrigin origin = torch::originOf(weights_.archive(), data, name);
    mlir::BlockArgument added =
        signature_->addArgument(typeOf(meta, name), name, role, toAttribute(origin, &context_));
    if (input.kind == InputSpec::Kind::Parameter && !data.requiresGrad)
      setFrozen(*signature_, added.getArgNumber());
    TensorRef tensor = aten::TensorState::create(added);
    tensor->storage()->name = name;
    tensor->storage()->isParameter = input.kind == InputSpec::Kind::Parameter;
    return tensor;
  }

  // What the user's --tie makes of a name.
  std::string tiedTo(const std::string &name) {
    for (const auto &[from, to] : options_.tie)
      if (from == name)
        return to;
    return name;
  }

  // Names with the same data are one parameter, under the first of them.
  TensorRef parameter(const InputSpec &input) {
    std::string name = tiedTo(input.target);
    if (llvm::is_contained(options_.untie, name)) {
      interpreter_.split(input.name, name, [this, input](const std::string &own) {
        remarks_.push_back({Remark::Kind::Untied, own, "has its own values from now on"});
        return argument(input, own, "parameter");
      });
      return nullptr;
    }
    if (auto found = parameters_.find(name); found != parameters_.end())
      return found->second;
    const InputSpec *source = &input;
    for (const InputSpec &other : program_.inputs)
      if (other.kind == InputSpec::Kind::Parameter && other.target == name)
        source = &other;
    torch::StridedTensor data = weights_.find(source->target, metaOf(*source));
    for (const auto &[first, other] : data_)
      if (other.entry == data.entry && other.isSameAs(data))
        return parameters_[name] = parameters_.at(first);
    data_.emplace_back(name, data);
    return parameters_[name] = argument(*source, name, "parameter");
  }

  TensorRef buffer(const InputSpec &input) {
    if (!written_.contains(input.target))
      return constant(input);
    if (stateArguments_.contains(input.target))
      fail("the program has the buffer '" + input.target + "' twice");
    TensorRef state = argument(input, input.target, "state");
    stateArguments_[input.target] =
        mlir::cast<mlir::BlockArgument>(state->storage()->contents).getArgNumber();
    state->storage()->isState = true;
    states_.emplace_back(input.target, state);
    return state;
  }

  TensorRef constant(const InputSpec &input) {
    TensorMeta meta = metaOf(input);
    torch::StridedTensor stored = weights_.find(input.target, meta); // its sizes are numbers
    mlir::RankedTensorType type = typeOf(meta, input.target);
    int64_t bytes = type.getNumElements() * byteSize(*meta.element);
    if (bytes > kMaxConstantBytes)
      return argument(input, input.target, "constant");
    Tensor data = torch::readTensor(weights_.archive(), stored, input.target);
    emitter_.loc = mlir::NameLoc::get(b_.getStringAttr(input.target));
    TensorRef tensor = aten::TensorState::create(emitter_.constant(data));
    tensor->storage()->name = input.target;
    return tensor;
  }

  void checkTies() {
    std::set<std::string> known;
    for (const InputSpec &input : program_.inputs)
      if (input.kind == InputSpec::Kind::Parameter)
        known.insert(input.target);
    auto check = [&](const std::string &name, const char *option) {
      if (!known.contains(name))
        fail(std::string(option) + " " + name + ": the model has no parameter '" + name + "'");
    };
    for (const auto &[from, to] : options_.tie) {
      check(from, "--tie");
      check(to, "--tie");
    }
    for (const std::string &name : options_.untie)
      check(name, "--untie");
  }

  // -- results
  void addResults(const Scope &scope) {
    size_t userOutputs = 0;
    for (const OutputSpec &output : program_.outputs) {
      switch (output.kind) {
      case OutputSpec::Kind::User:
        addOutput(output, program_.outputNames[userOutputs++], scope);
        break;
      case OutputSpec::Kind::Loss:
        addOutput(output, "loss", scope);
        break;
      case OutputSpec::Kind::Buffer:
        writeBuffer(output, scope);
        break;
      case OutputSpec::Kind::Input: // what becomes of an input after the step is nobody's business
        break;
      case OutputSpec::Kind::Parameter:
        fail("the program itself writes to the parameter '" + output.target +
             "', which Cleave's optimizers do");
      case OutputSpec::Kind::Other:
        fail("the program has an output of the kind '" + output.kindName +
             "', which Cleave does not read; export the forward computation alone");
      }
    }
  }

  void addOutput(const OutputSpec &output, const std::string &name, const Scope &scope) {
    if (output.value.kind != Argument::Kind::Name)
      return; // a literal
    const aten::Value &value = interpreter_.lookUp(scope, output.value.text);
    if (value.isTensor() && !value.tensor())
      fail("'" + output.value.text + "' is an output and cannot be untied");
    if (value.isTensor())
      signature_->addResult(value.tensor()->read(emitter_), name, "output");
  }

  void writeBuffer(const OutputSpec &output, const Scope &scope) {
    const aten::Value &value = interpreter_.lookUp(scope, output.value.text);
    for (auto &[name, state] : states_)
      if (name == output.target && value.isTensor() && value.tensor())
        state->write(emitter_, value.tensor()->read(emitter_));
  }

  void addStates() {
    for (auto &[name, state] : states_) {
      unsigned index = stateArguments_.at(name);
      mlir::Value last = state->storage()->contents;
      if (last.getType() != step_.getArgument(index).getType())
        fail("the program changes the shape or type of the buffer '" + name +
             "', expected that it keeps them");
      if (last == step_.getArgument(index))
        signature_->setArgAttr(index, "graph.role", b_.getStringAttr("constant"));
      else
        signature_->addResult(last, name, "state", index);
    }
    signature_->commit();
  }

  mlir::MLIRContext &context_;
  const std::string &path_;
  const Program &program_;
  const Weights &weights_;
  const frontend::ImportOptions &options_;
  Symbols symbols_;
  mlir::OpBuilder b_;
  emit::Evaluator evaluator_;
  emit::Emitter emitter_;
  aten::Context atenContext_;
  Interpreter interpreter_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp step_;
  std::optional<SignatureEdit> signature_; // of the step, until its results are known
  std::vector<Remark> remarks_;
  std::set<std::string> written_; // buffers
  std::map<std::string, TensorRef> parameters_;
  std::vector<std::pair<std::string, torch::StridedTensor>> data_; // of parameters, by first name
  std::vector<std::pair<std::string, TensorRef>> states_;          // buffers that are written
  std::map<std::string, unsigned> stateArguments_;                 // their numbers
};

// What tells an archive of this kind from other zip files.
bool isExported(const torch::Archive &archive) {
  return archive.find(kModelEntry) || archive.find("archive_format") ||
         archive.find(kOldModelEntry);
}

Program readModel(const torch::Archive &archive) {
  if (archive.find(kOldModelEntry))
    fail("the archive was written by " + producerOf(archive.source(kOldModelEntry)) +
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
  auto begin = llvm::MemoryBuffer::getFileSlice(path, 64, 0);
  if (!begin || !torch::Archive::recognises((*begin)->getBuffer().str()))
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
    return Importer(context, path, program, weights, options).run();
  } catch (const emit::Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::pt2
