// See ModelTensors.h.
#include "compiler/frontend/pt2/ModelTensors.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/pt2/InitialValues.h"
#include "compiler/frontend/pt2/TensorTypes.h"
#include "compiler/frontend/pt2/WrittenBuffers.h"
#include "compiler/frontend/step/OptionNames.h"
#include "compiler/frontend/torch/Origin.h"

namespace cleave::pt2 {

using aten::TensorRef;
using emit::fail;
using frontend::ArgumentRole;
using frontend::Remark;

[[noreturn]] static void failOnAbsent(const std::string &name) {
  fail("the archive has no elements of the buffer '", name,
       "', since the model was exported on PyTorch's meta device; create it on another one: only "
       "parameters and statistics of norms can do without");
}

static std::set<std::string> parameterNames(const Program &program) {
  std::set<std::string> names;
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::Parameter)
      names.insert(input.target);
  return names;
}

ModelTensors::ModelTensors(const Program &program, const Weights &weights, const Symbols &symbols,
                           const frontend::ImportOptions &options, frontend::StepBuilder &step,
                           emit::Emitter &emitter, GraphInterpreter &interpreter)
    : program_(program), weights_(weights), symbols_(symbols), options_(options), step_(step),
      emitter_(emitter), interpreter_(interpreter), written_(writtenBuffers(program)) {
  frontend::checkTieNames(options, parameterNames(program));
  for (const auto &[name, other] : options.tie) {
    torch::StridedTensor a = parameterData(name), b = parameterData(other);
    if (a.dims != b.dims || a.element != b.element)
      fail("--tie ", name, "=", other, ": the two have different shapes or types");
  }
}

torch::StridedTensor ModelTensors::parameterData(const std::string &name) const {
  for (const InputSpec &input : program_.inputs)
    if (input.kind == InputSpec::Kind::Parameter && input.target == name)
      return weights_.find(name, metaOf(program_, input));
  fail("the program has no parameter '", name, "'");
}

aten::IValue ModelTensors::add(const InputSpec &input) {
  switch (input.kind) {
  case InputSpec::Kind::Parameter:
    return parameter(input);
  case InputSpec::Kind::Buffer:
    return buffer(input);
  default:
    return constant(input);
  }
}

// Where the first values are: in the archive, or those of PyTorch's layers.
mlir::Attribute ModelTensors::sourceOf(const InputSpec &input, const torch::StridedTensor &data,
                                       const std::string &name) {
  mlir::MLIRContext *context = emitter_.b.getContext();
  if (!data.isAbsent)
    return graph::toAttribute(torch::originOf(weights_.archive(), data, name), context);
  mlir::Attribute source = initialValue(program_, input, context);
  if (!source)
    failOnAbsent(name);
  if (absent_++ == 0)
    absentName_ = name;
  return source;
}

mlir::BlockArgument ModelTensors::addArgument(const InputSpec &input, const std::string &name,
                                              ArgumentRole role) {
  const TensorMeta &meta = metaOf(program_, input);
  return addArgument(input, weights_.find(input.target, meta),
                     typeOf(meta, name, symbols_, emitter_), name, role);
}

mlir::BlockArgument ModelTensors::addArgument(const InputSpec &input,
                                              const torch::StridedTensor &data,
                                              mlir::RankedTensorType type, const std::string &name,
                                              ArgumentRole role) {
  mlir::BlockArgument argument = step_.addArgument(role, type, name, sourceOf(input, data, name));
  if (role == ArgumentRole::Parameter && !data.requiresGrad)
    step_.freeze(argument);
  return argument;
}

TensorRef ModelTensors::handleOf(mlir::Value value, const InputSpec &input,
                                 const std::string &name) {
  TensorRef tensor = aten::TensorState::create(value);
  tensor->storage()->name = name;
  tensor->storage()->isParameter = input.kind == InputSpec::Kind::Parameter;
  return tensor;
}

std::vector<Remark> ModelTensors::remarks() const {
  std::vector<Remark> all = remarks_;
  if (absent_ > 0)
    all.push_back({Remark::Kind::Warning, absentName_,
                   concat(absent_ > 1 ? concat("and ", absent_ - 1, " others have") : "has",
                          " no elements in the file (PyTorch's meta device): they begin as those "
                          "of PyTorch's layers, by cleave-run --seed")});
  return all;
}

// -- parameters -----------------------------------------------------------------------------------
// The name that --tie gives a parameter.
std::string ModelTensors::tiedTo(const std::string &name) const {
  for (const auto &[from, to] : options_.tie)
    if (from == name)
      return to;
  return name;
}

TensorRef ModelTensors::parameterNamed(const InputSpec &input, const std::string &name) {
  return handleOf(addArgument(input, name, ArgumentRole::Parameter), input, name);
}

// Names with the same data are one parameter, under the first of them.
TensorRef ModelTensors::parameter(const InputSpec &input) {
  std::string name = tiedTo(input.target);
  if (llvm::is_contained(options_.untie, name)) {
    interpreter_.split(input.name, name, [this, input](const std::string &own) {
      remarks_.push_back({Remark::Kind::Untied, own, "has its own values from now on"});
      return parameterNamed(input, own);
    });
    return nullptr;
  }
  if (name != input.target)
    step_.nameAlso(input.target, name);
  if (auto found = parameters_.find(name); found != parameters_.end())
    return found->second;
  const InputSpec *source = &input;
  for (const InputSpec &other : program_.inputs)
    if (other.kind == InputSpec::Kind::Parameter && other.target == name)
      source = &other;
  torch::StridedTensor data = weights_.find(source->target, metaOf(program_, *source));
  for (const auto &[first, other] : data_)
    if (!data.isAbsent && other.entry == data.entry && other.isSameAs(data))
      return parameters_[name] = parameters_.at(first);
  data_.emplace_back(name, data);
  for (const std::string &other : weights_.otherNamesOf(source->target))
    if (other != name && !llvm::is_contained(options_.untie, other))
      step_.nameAlso(other, name);
  return parameters_[name] = parameterNamed(*source, name);
}

// -- buffers --------------------------------------------------------------------------------------
aten::IValue ModelTensors::buffer(const InputSpec &input) {
  const std::string &name = input.target;
  if (!written_.contains(name))
    return constant(input);
  if (llvm::any_of(states_, [&](const auto &state) { return state.first == name; }))
    fail("the program takes the buffer '", name, "' twice, expected once");
  mlir::BlockArgument argument = addArgument(input, name, ArgumentRole::State);
  TensorRef tensor = handleOf(argument, input, name);
  tensor->storage()->isState = true;
  states_.emplace_back(name, State{argument, tensor});
  return tensor;
}

void ModelTensors::writeBuffer(const std::string &name, const aten::IValue &value) {
  for (auto &[buffer, state] : states_)
    if (buffer == name && value.isTensor() && value.tensor())
      state.tensor->write(emitter_, value.tensor()->read(emitter_));
}

void ModelTensors::addStateResults() {
  for (const auto &[name, state] : states_)
    step_.addStateResult(state.argument, state.tensor->storage()->contents);
}

aten::IValue ModelTensors::constant(const InputSpec &input) {
  const TensorMeta &meta = metaOf(program_, input);
  torch::StridedTensor stored = weights_.find(input.target, meta); // fails on symbolic sizes
  std::optional<torch::StridedTensor> pairs = torch::pairsOf(stored);
  if (!pairs)
    return constantOf(input, stored, typeOf(meta, input.target, symbols_, emitter_));
  mlir::Type element = graph::fromElementType(*pairs->element, emitter_.b.getContext());
  TensorRef whole = constantOf(input, *pairs, emitter_.type(emit::toShape(pairs->dims), element));
  return aten::complexOfPairs(emitter_, whole->read(emitter_));
}

TensorRef ModelTensors::constantOf(const InputSpec &input, const torch::StridedTensor &stored,
                                   mlir::RankedTensorType type) {
  const std::string &name = input.target;
  if (stored.isAbsent)
    failOnAbsent(name);
  if (type.getNumElements() * byteSize(*stored.element) > frontend::kMaxConstantBytes)
    return handleOf(addArgument(input, stored, type, name, ArgumentRole::Constant), input, name);
  Tensor data = torch::readTensor(weights_.archive(), stored, name);
  return handleOf(step_.addConstant(name, data), input, name);
}

} // namespace cleave::pt2
