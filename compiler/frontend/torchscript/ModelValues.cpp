// See ModelValues.h.
#include "compiler/frontend/torchscript/ModelValues.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/torch/Origin.h"

namespace cleave::torchscript {

using emit::fail;
using frontend::ArgumentRole;

IValue ModelValues::handleOf(mlir::Value value, const Stored &stored) {
  ElementType element = graph::toElementType(graph::elementTypeOf(value));
  // Tracing turns a Python number into such a tensor.
  bool isNumber = stored.name.starts_with("CONSTANTS.") && graph::rankOf(value) == 0 &&
                  (element == ElementType::F64 || element == ElementType::I64);
  aten::TensorRef handle =
      isNumber ? aten::TensorState::ofPythonNumber(value) : aten::TensorState::create(value);
  handle->storage()->name = stored.name;
  handle->storage()->isParameter = stored.kind == Stored::Kind::Parameter;
  handle->storage()->isState = stored.kind == Stored::Kind::Buffer;
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
  ArgumentRole role = stored.kind == Stored::Kind::Parameter ? ArgumentRole::Parameter
                      : written_.contains(stored.name)       ? ArgumentRole::State
                                                             : ArgumentRole::Constant;
  mlir::BlockArgument argument = step_.addArgument(role, type, stored.name, origin);
  if (role == ArgumentRole::Parameter && !stored.tensor.requiresGrad)
    step_.freeze(argument);
  return argument;
}

IValue ModelValues::addTensor(size_t index, int64_t copy) {
  Stored stored = model_.tensors()[index];
  if (copy > 0)
    stored.name += concat(".", copy);
  bool isWritten = written_.contains(stored.name);
  std::optional<torch::StridedTensor> pairs = torch::pairsOf(stored.tensor);
  const bool isComplex = pairs && !isWritten && stored.kind != Stored::Kind::Parameter;
  if (isComplex)
    stored.tensor = *pairs;
  ElementType element = torch::elementOf(stored.tensor, stored.name);
  bool isSmall = stored.tensor.elementCount() * byteSize(element) <= frontend::kMaxConstantBytes;
  bool isConstant = stored.kind != Stored::Kind::Parameter && !isWritten && isSmall;
  mlir::Value value = isConstant ? addConstant(stored) : addArgument(stored, element);
  if (isComplex)
    return aten::complexOfPairs(emitter_, value);
  if (stored.kind == Stored::Kind::Buffer)
    buffers_[stored.name] = {
        value, isWritten ? std::optional(mlir::cast<mlir::BlockArgument>(value)) : std::nullopt};
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
std::set<std::string> ModelValues::addStateResults(const Instance &model) {
  std::set<const Instance *> visited;
  std::set<std::string> missing;
  visitBuffers(model, visited, missing);
  return missing;
}

void ModelValues::visitBuffers(const Instance &object, std::set<const Instance *> &visited,
                               std::set<std::string> &missing) {
  if (!visited.insert(&object).second)
    return;
  for (const auto &[name, value] : object.attributes) {
    if (InstanceRef child = instanceOf(value))
      visitBuffers(*child, visited, missing);
    std::string full = object.path.empty() ? name : object.path + "." + name;
    auto found = buffers_.find(full);
    if (found == buffers_.end() || !value.isTensor())
      continue;
    Buffer &buffer = found->second;
    mlir::Value last = value.tensor()->read(emitter_);
    if (last == buffer.initial)
      continue;
    frontend::checkStateType(full, buffer.initial, last);
    if (!buffer.state)
      missing.insert(full);
    else if (!std::exchange(buffer.isReplaced, true))
      step_.addStateResult(*buffer.state, last);
  }
}

} // namespace cleave::torchscript
