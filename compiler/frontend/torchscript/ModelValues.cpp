// See ModelValues.h.
#include "compiler/frontend/torchscript/ModelValues.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/torch/Origin.h"

namespace cleave::torchscript {

using emit::fail;

IValue ModelValues::handleOf(mlir::Value value, const Stored &stored) {
  ElementType element = graph::toElementType(graph::elementTypeOf(value));
  // Tracing turns a Python number into such a tensor.
  bool isNumber = stored.name.starts_with("CONSTANTS.") && graph::rankOf(value) == 0 &&
                  (element == ElementType::F64 || element == ElementType::I64);
  aten::TensorRef handle =
      isNumber ? aten::TensorState::ofPythonNumber(value) : aten::TensorState::create(value);
  aten::Storage &storage = *handle->storage();
  storage.name = stored.name;
  storage.isTrained = stored.kind == Stored::Kind::Parameter && stored.tensor.requiresGrad;
  storage.isBuffer = stored.kind == Stored::Kind::Buffer;
  if (!storage.isTrained) {
    const torch::StridedTensor &tensor = stored.tensor;
    handle->setStrides({tensor.strides.begin(), tensor.strides.end()});
    states_.add(stored.name, value);
  }
  handles_[stored.name] = handle;
  return handle;
}

mlir::Value ModelValues::addConstant(const Stored &stored) {
  return step_.addConstant(stored.name, torch::readTensor(archive_, stored.tensor, stored.name));
}

mlir::BlockArgument ModelValues::addArgument(const Stored &stored, ElementType element) {
  graph::TensorOrigin origin = torch::originOf(archive_, stored.tensor, stored.name);
  mlir::MLIRContext *context = step_.builder().getContext();
  auto type =
      mlir::RankedTensorType::get(stored.tensor.dims, graph::fromElementType(element, context));
  Role role = states_.isState(stored.name)             ? Role::State
              : stored.kind == Stored::Kind::Parameter ? Role::Parameter
                                                       : Role::Constant;
  mlir::BlockArgument argument = step_.addArgument(role, type, stored.name, origin);
  if (role == Role::Parameter && !stored.tensor.requiresGrad)
    step_.freeze(argument);
  return argument;
}

IValue ModelValues::addTensor(size_t index, int64_t copy) {
  Stored stored = model_.tensors()[index];
  if (copy > 0)
    stored.name += concat(".", copy);
  bool isState = states_.isState(stored.name);
  std::optional<torch::StridedTensor> pairs = torch::pairsOf(stored.tensor);
  const bool isComplex = pairs && !isState && stored.kind != Stored::Kind::Parameter;
  if (isComplex)
    stored.tensor = *pairs;
  ElementType element = torch::elementOf(stored.tensor, stored.name);
  bool isSmall = stored.tensor.elementCount() * byteSize(element) <= frontend::kMaxConstantBytes;
  bool isConstant = stored.kind != Stored::Kind::Parameter && !isState && isSmall;
  mlir::Value value = isConstant ? addConstant(stored) : addArgument(stored, element);
  if (isComplex)
    return aten::complexOfPairs(emitter_, value);
  return handleOf(value, stored);
}

IValue ModelValues::constant(const std::string &name) {
  std::optional<size_t> tensor = model_.constantTensor(name);
  if (!tensor)
    return model_.constantValue(name);
  if (model_.isMergedByFreezing(*tensor))
    return addTensor(*tensor, copies_[*tensor]++);
  std::optional<size_t> other = model_.transposedOf(*tensor);
  size_t source = other.value_or(*tensor);
  auto known = constants_.find(source);
  if (known == constants_.end())
    known = constants_.emplace(source, addTensor(source)).first;
  if (!other)
    return known->second;
  return aten::TensorState::create(emitter_.swapDims(known->second.tensor()->read(emitter_), 0, 1));
}

// -- states ---------------------------------------------------------------------------------------
void ModelValues::reportStates(const KeptAttributes &attributes) {
  for (const auto &[name, handle] : handles_)
    if (states_.has(name))
      states_.setLast(name, handle->storage()->contents);
  attributes.visitTensors(
      [&](const std::string &path, const aten::TensorRef &tensor) { report(path, tensor); });
}

void ModelValues::report(const std::string &path, const aten::TensorRef &tensor) {
  std::optional<size_t> index = model_.tensorNamed(path);
  if (!index || !handles_.contains(model_.tensors()[*index].name))
    return;
  const Stored &stored = model_.tensors()[*index];
  auto [left, isFirst] = left_.try_emplace(stored.name, tensor);
  if (left->second != tensor)
    fail("'", stored.name, "' and '", path,
         "' are one tensor before the step and different ones after it; make one of them a copy "
         "(clone) before the export");
  const aten::TensorRef &first = handles_.at(stored.name);
  if (!isFirst || tensor == first)
    return;
  if (first->storage()->isTrained)
    fail("the program assigns another tensor to the parameter '", path,
         "', which only the optimizer changes");
  // An attribute that only passes values on within a step is no state.
  const bool isRead = first->storage()->version > 0 || !states_.isUnread(stored.name);
  if (states_.has(stored.name) && (stored.kind == Stored::Kind::Buffer || isRead))
    states_.setLast(stored.name, tensor->read(emitter_));
}

} // namespace cleave::torchscript
