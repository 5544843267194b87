// See StepBuilder.h.
#include "compiler/frontend/torchscript/StepBuilder.h"

#include "compiler/frontend/step/FinishStep.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Origin.h"
#include "dialects/graph/StopGradient.h"

namespace cleave::torchscript {

using namespace graph;
using emit::fail;

// Tensors up to this size become constants, larger ones arguments of the step.
static constexpr int64_t kMaxConstantBytes = 4096;

static mlir::OwningOpRef<mlir::ModuleOp> emptyStep(mlir::OpBuilder &b, const std::string &path) {
  auto location = mlir::FileLineColLoc::get(b.getContext(), path, 0, 0);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  b.setInsertionPointToStart(module->getBody());
  auto step = mlir::func::FuncOp::create(b, location, kStepName, b.getFunctionType({}, {}));
  b.setInsertionPointToStart(step.addEntryBlock());
  b.setInsertionPoint(mlir::func::ReturnOp::create(b, location));
  return module;
}

StepBuilder::StepBuilder(mlir::MLIRContext &context, const std::string &path,
                         const torch::Archive &archive, const Model &model)
    : path_(path), archive_(archive), model_(model), b_(&context), module_(emptyStep(b_, path)),
      step_(stepOf(*module_)), signature_(step_), emitter_(b_, module_->getLoc(), evaluator_) {
  evaluator_.countOpsOf(b_);
}

Value StepBuilder::addInput(const std::string &name, ElementType element, const Shape &dims) {
  mlir::Type type = tensorOf(dims, fromElementType(element, b_.getContext()));
  mlir::Value input = signature_.addArgument(type, name, "input");
  signature_.commit(); // messages name inputs
  return aten::TensorState::create(input);
}

Value StepBuilder::addConstant(const std::string &name, const Tensor &elements) {
  mlir::Location location = mlir::NameLoc::get(b_.getStringAttr(name));
  return aten::TensorState::create(
      ConstantOp::create(b_, location, toAttribute(elements, b_.getContext())));
}

Value StepBuilder::handleOf(mlir::Value value, const Stored &stored) {
  ElementType element = toElementType(elementTypeOf(value));
  // What the tracer made of a number of Python.
  bool isNumber = stored.name.starts_with("CONSTANTS.") && rankOf(value) == 0 &&
                  (element == ElementType::F64 || element == ElementType::I64);
  aten::TensorRef handle =
      isNumber ? aten::TensorState::ofPythonNumber(value) : aten::TensorState::create(value);
  handle->storage()->name = stored.name;
  handle->storage()->isParameter = stored.kind == Stored::Kind::Parameter;
  handle->storage()->isState = stored.kind == Stored::Kind::Buffer;
  return handle;
}

Value StepBuilder::addTensor(size_t index, const std::set<std::string> &written, int64_t copy) {
  Stored stored = model_.tensors()[index];
  if (copy > 0)
    stored.name += "." + std::to_string(copy);
  ElementType element = torch::elementOf(stored.tensor, stored.name);
  bool isParameter = stored.kind == Stored::Kind::Parameter;
  bool isWritten = written.contains(stored.name);
  int64_t bytes = stored.tensor.elementCount() * byteSize(element);
  if (!isParameter && !isWritten && bytes <= kMaxConstantBytes) {
    mlir::Location location = mlir::NameLoc::get(b_.getStringAttr(stored.name));
    Tensor data = torch::readTensor(archive_, stored.tensor, stored.name);
    mlir::Value value = ConstantOp::create(b_, location, toAttribute(data, b_.getContext()));
    if (stored.kind == Stored::Kind::Buffer)
      buffers_[stored.name] = {value, std::nullopt, stored.name};
    return handleOf(value, stored);
  }
  TensorOrigin origin = torch::originOf(archive_, stored.tensor, stored.name);
  auto type =
      mlir::RankedTensorType::get(stored.tensor.dims, fromElementType(element, b_.getContext()));
  const char *role = isParameter ? "parameter" : isWritten ? "state" : "constant";
  mlir::BlockArgument argument =
      signature_.addArgument(type, stored.name, role, toAttribute(origin, b_.getContext()));
  if (isParameter && !stored.tensor.requiresGrad)
    setFrozen(signature_, argument.getArgNumber());
  if (stored.kind == Stored::Kind::Buffer)
    buffers_[stored.name] = {argument, argument.getArgNumber(), stored.name};
  return handleOf(argument, stored);
}

void StepBuilder::addOutputs(const Value &value) {
  addOutput(value, "");
  if (outputs_ == 0)
    fail("the model returns " + value.kindName() + ", expected at least one tensor");
}

// Containers without tensors count, too: shared ones may be met very often.
void StepBuilder::checkCount() {
  constexpr int64_t most = 4096;
  if (++visited_ > most)
    fail("the model returns more than " + std::to_string(most) + " values");
}

// Tuples are flattened and numbered through; below the key of a dictionary numbering begins anew.
void StepBuilder::addOutput(const Value &value, const std::string &name) {
  checkCount();
  if (value.isTensor()) {
    std::string own = name.empty() ? std::to_string(outputs_) : name;
    signature_.addResult(value.tensor()->read(emitter_), own, "output");
    ++outputs_;
  } else if (value.isList()) {
    for (size_t i = 0; i < value.items().size(); ++i)
      addOutput(value.items()[i], name.empty() ? "" : name + "." + std::to_string(i));
  } else if (DictionaryRef dictionary = dictionaryOf(value)) {
    for (const auto &[key, item] : dictionary->items)
      addOutput(item, name.empty() ? textOf(key) : name + "." + textOf(key));
  }
}

bool StepBuilder::isState(unsigned argument) const {
  auto role = mlir::cast<mlir::StringAttr>(signature_.argAttr(argument, "graph.role"));
  return role.getValue() == "state";
}

std::set<std::string> StepBuilder::addStates(const Instance &model) {
  std::set<const Instance *> visited;
  std::set<std::string> missing;
  visitBuffers(model, visited, missing);
  for (const auto &[name, buffer] : buffers_)
    if (buffer.index && !replaced_.contains(name) && isState(*buffer.index))
      signature_.setArgAttr(*buffer.index, "graph.role", b_.getStringAttr("constant"));
  signature_.commit();
  return missing;
}

void StepBuilder::visitBuffers(const Instance &object, std::set<const Instance *> &visited,
                               std::set<std::string> &missing) {
  if (!visited.insert(&object).second)
    return;
  for (const auto &[name, value] : object.attributes) {
    if (InstanceRef child = instanceOf(value))
      visitBuffers(*child, visited, missing);
    std::string full = object.path.empty() ? name : object.path + "." + name;
    auto buffer = buffers_.find(full);
    if (buffer == buffers_.end() || !value.isTensor())
      continue;
    mlir::Value last = value.tensor()->read(emitter_);
    if (last == buffer->second.initial)
      continue;
    if (last.getType() != buffer->second.initial.getType())
      fail("the program changes the shape or type of the buffer '" + full +
           "', expected that it keeps them");
    if (!buffer->second.index || !isState(*buffer->second.index))
      missing.insert(full);
    else if (replaced_.insert(full).second)
      signature_.addResult(last, full, "state", *buffer->second.index);
  }
}

mlir::OwningOpRef<mlir::ModuleOp> StepBuilder::finish() {
  frontend::finishStep(*module_, path_, evaluator_.assumptions());
  return std::move(module_);
}

} // namespace cleave::torchscript
