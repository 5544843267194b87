// See ModelTensors.h.
#include "compiler/frontend/pt2/ModelTensors.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/pt2/InitialValues.h"
#include "compiler/frontend/pt2/TensorTypes.h"
#include "compiler/frontend/step/OptionNames.h"
#include "compiler/frontend/torch/Origin.h"

namespace cleave::pt2 {

using aten::TensorRef;
using emit::fail;
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
                           frontend::ModelStates &states, emit::Emitter &emitter,
                           GraphInterpreter &interpreter)
    : program_(program), weights_(weights), symbols_(symbols), options_(options), step_(step),
      emitter_(emitter), interpreter_(interpreter), states_(states) {
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
  return input.kind == InputSpec::Kind::Parameter ? aten::IValue(parameter(input)) : buffer(input);
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

mlir::BlockArgument ModelTensors::addArgument(const InputSpec &input,
                                              const torch::StridedTensor &data,
                                              mlir::RankedTensorType type, const std::string &name,
                                              Role role) {
  mlir::BlockArgument argument = step_.addArgument(role, type, name, sourceOf(input, data, name));
  if (role == Role::Parameter && !data.requiresGrad)
    step_.freeze(argument);
  return argument;
}

TensorRef ModelTensors::hold(mlir::Value value, const InputSpec &input,
                             const torch::StridedTensor &data, const std::string &name) {
  TensorRef tensor = aten::TensorState::create(value);
  aten::Storage &storage = *tensor->storage();
  storage.name = name;
  storage.isBuffer = input.kind == InputSpec::Kind::Buffer;
  storage.isTrained = input.kind == InputSpec::Kind::Parameter && data.requiresGrad;
  if (!storage.isTrained) {
    tensor->setStrides({data.strides.begin(), data.strides.end()});
    states_.add(name, value);
  }
  byEntry_[data.entry].push_back({name, data, tensor});
  return tensor;
}

const ModelTensors::Held *ModelTensors::heldWith(const torch::StridedTensor &data) const {
  auto sameEntry = byEntry_.find(data.entry);
  if (data.isAbsent || data.elementCount() == 0 || sameEntry == byEntry_.end())
    return nullptr;
  auto same =
      llvm::find_if(sameEntry->second, [&](const Held &held) { return held.data.isSameAs(data); });
  return same == sameEntry->second.end() ? nullptr : &*same;
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
  const TensorMeta &meta = metaOf(program_, input);
  torch::StridedTensor data = weights_.find(input.target, meta);
  Role role = states_.isState(name) ? Role::State : Role::Parameter;
  mlir::RankedTensorType type = typeOf(meta, name, symbols_, emitter_);
  return hold(addArgument(input, data, type, name, role), input, data, name);
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
  if (auto found = byName_.find(name); found != byName_.end())
    return found->second;
  const InputSpec *source = &input;
  for (const InputSpec &other : program_.inputs)
    if (other.kind == InputSpec::Kind::Parameter && other.target == name)
      source = &other;
  torch::StridedTensor data = weights_.find(source->target, metaOf(program_, *source));
  if (const Held *same = heldWith(data)) {
    remarks_.push_back(
        {Remark::Kind::Tied, same->name,
         concat("'", name, "' is the same tensor in the file: one parameter; --untie ", name,
                " trains them apart")});
    return byName_[name] = same->tensor;
  }
  for (const std::string &other : weights_.otherNamesOf(source->target))
    if (other != name && !llvm::is_contained(options_.untie, other))
      step_.nameAlso(other, name);
  return byName_[name] = parameterNamed(*source, name);
}

// -- buffers and constants ------------------------------------------------------------------------
aten::IValue ModelTensors::buffer(const InputSpec &input) {
  const std::string &name = input.target;
  const TensorMeta &meta = metaOf(program_, input);
  torch::StridedTensor data = weights_.find(name, meta); // fails on symbolic sizes
  if (std::optional<torch::StridedTensor> pairs = torch::pairsOf(data)) {
    mlir::Type element = graph::fromElementType(*pairs->element, emitter_.b.getContext());
    mlir::RankedTensorType type = emitter_.type(emit::toShape(pairs->dims), element);
    return aten::complexOfPairs(emitter_, firstValue(input, *pairs, type, name));
  }
  if (const Held *same = heldWith(data)) {
    const bool isTrained = same->tensor->storage()->isTrained;
    return byName_[name] =
               isTrained ? aten::TensorState::detached(emitter_, same->tensor) : same->tensor;
  }
  mlir::Value first = firstValue(input, data, typeOf(meta, name, symbols_, emitter_), name);
  return byName_[name] = hold(first, input, data, name);
}

mlir::Value ModelTensors::firstValue(const InputSpec &input, const torch::StridedTensor &data,
                                     mlir::RankedTensorType type, const std::string &name) {
  if (states_.isState(name))
    return addArgument(input, data, type, name, Role::State);
  const bool isLarge =
      type.getNumElements() * byteSize(*data.element) > frontend::kMaxConstantBytes;
  if (isLarge || data.isAbsent)
    return addArgument(input, data, type, name, Role::Constant);
  return step_.addConstant(name, torch::readTensor(weights_.archive(), data, name));
}

// -- states ---------------------------------------------------------------------------------------
void ModelTensors::write(const std::string &name, mlir::Value value) {
  auto found = byName_.find(tiedTo(name));
  if (found == byName_.end())
    fail("the program writes to '", name, "', which is not one of its inputs");
  found->second->write(emitter_, value);
}

void ModelTensors::reportStates() {
  for (const auto &[entry, tensors] : byEntry_)
    for (const Held &held : tensors) {
      const aten::Storage &storage = *held.tensor->storage();
      if (!storage.isTrained)
        states_.setLast(held.name, storage.contents);
      for (const Held &other : tensors)
        if (held.data.mayOverlap(other.data) && !held.data.isSameAs(other.data))
          checkShared(held, other);
    }
}

// `a` and `b` are different parts of one memory.
void ModelTensors::checkShared(const Held &a, const Held &b) {
  if (a.tensor->storage()->version > 0)
    fail("the program writes to '", a.name, "', which shares memory with '", b.name,
         "'; make one of them a copy (clone) before the export");
  if (a.tensor->storage()->isTrained && !b.tensor->storage()->isTrained)
    remarks_.push_back(
        {Remark::Kind::TrainingWarning, b.name,
         concat("shares memory with the parameter '", a.name, "', but does not change with it")});
}

} // namespace cleave::pt2
