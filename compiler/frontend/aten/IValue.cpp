// See IValue.h.
#include "compiler/frontend/aten/IValue.h"

#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Emitter.h"
#include "dialects/graph/StopGradient.h"

#include "llvm/ADT/DenseSet.h"

#include <cassert>
#include <utility>

namespace cleave::aten {

// The longest chain of views.
static constexpr int kMaxViews = 1000;
// The largest number of values that hasHistory() visits.
static constexpr size_t kMaxHistory = 1024;

// ` of 'queue'` of the memory of a buffer or parameter.
static std::string ofName(const Storage &storage) {
  return storage.name.empty() ? "" : " of '" + storage.name + "'";
}

TensorRef TensorState::create(mlir::Value contents) {
  auto tensor = std::make_shared<TensorState>();
  tensor->storage_ = std::make_shared<Storage>();
  tensor->storage_->contents = contents;
  return tensor;
}

TensorRef TensorState::ofNumber(Polynomial number) {
  auto tensor = std::make_shared<TensorState>();
  tensor->number_ = std::move(number);
  return tensor;
}

TensorRef TensorState::ofPythonNumber(mlir::Value contents) {
  TensorRef tensor = create(contents);
  tensor->isPythonNumber_ = true;
  return tensor;
}

TensorRef TensorState::viewOf(TensorRef base, mlir::Value elements, ViewStep step,
                              Strides strides) {
  if (base->depth_ >= kMaxViews)
    emit::fail("is a view of a view of a view …, more than ", kMaxViews, " of them");
  assert(base->storage_ && "the base has been read");
  auto tensor = std::make_shared<TensorState>();
  tensor->storage_ = base->storage_;
  tensor->depth_ = base->depth_ + 1;
  tensor->step_ = std::move(step);
  tensor->elements_ = elements;
  tensor->version_ = base->storage_->version;
  tensor->strides_ = std::move(strides);
  tensor->hasPlainStrides_ = false;
  tensor->base_ = std::move(base);
  return tensor;
}

TensorRef TensorState::detached(emit::Emitter &emitter, const TensorRef &base) {
  mlir::Value elements = stopped(emitter, base->read(emitter));
  return viewOf(base, elements, {stopped, withGradientOf}, base->strides(emitter));
}

TensorRef TensorState::wholeOf(TensorRef tensor) {
  while (tensor->base_)
    tensor = tensor->base_;
  return tensor;
}

mlir::Value TensorState::read(emit::Emitter &emitter) {
  if (!storage_) {
    storage_ = std::make_shared<Storage>();
    storage_->contents = emitter.size(*number_);
  }
  if (storage_->isTorn && *storage_->isTorn)
    emit::fail(
        "reads a tensor", ofName(*storage_),
        " that shares its memory with one that was written in place, or is a copy of it, as "
        "the order of its elements in PyTorch's memory decides; clone() it before the write");
  if (!base_)
    return storage_->contents;
  if (version_ != storage_->version) {
    elements_ = step_.read(emitter, base_->read(emitter));
    version_ = storage_->version;
  }
  return elements_;
}

// Whether gradients may flow to operands from which the elements were computed.
static bool hasHistory(mlir::Value elements) {
  if (mlir::isa<mlir::BlockArgument>(elements))
    return false; // an input or a buffer
  llvm::SmallVector<mlir::Value> open{elements};
  llvm::DenseSet<mlir::Value> seen;
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    if (!mlir::isa<mlir::FloatType>(graph::elementTypeOf(value)) || !seen.insert(value).second)
      continue;
    mlir::Operation *op = value.getDefiningOp();
    if (!op || seen.size() > kMaxHistory)
      return true;
    if (!mlir::isa<graph::StopGradientOp>(op))
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

mlir::Value withGradientOf(emit::Emitter &e, mlir::Value before, mlir::Value elements) {
  elements = stopped(e, elements);
  if (!hasHistory(before))
    return elements;
  // A zero with the gradient of the former contents, unless these are infinite.
  mlir::Value zero = e.sub(before, stopped(e, before));
  zero = e.select(e.compare(emit::Predicate::EQ, zero, 0), zero, e.splat(zero, 0));
  return e.add(elements, zero);
}

void TensorState::write(emit::Emitter &emitter, mlir::Value elements, bool isRecorded) {
  mlir::Value whole = elements;
  // From the view to its base. Each handle on the way shows the elements that are written to it.
  llvm::SmallVector<std::pair<TensorState *, mlir::Value>> seen;
  for (TensorState *at = this; at->base_; at = at->base_.get()) {
    if (!at->step_.write)
      emit::fail("writes to a view", ofName(*storage_), " that shows one element several times");
    seen.emplace_back(at, whole);
    whole = at->step_.write(emitter, at->base_->read(emitter), whole);
  }
  read(emitter); // a number gets its storage
  if (storage_->isTrained)
    emit::fail("writes in place to the parameter '", storage_->name,
               "', which only the optimizer changes; write to a copy of it (clone), or freeze it "
               "before the export (requires_grad_(False))");
  number_.reset();
  storage_->contents = isRecorded ? whole : withGradientOf(emitter, storage_->contents, whole);
  ++storage_->version;
  if (std::shared_ptr<bool> torn = std::exchange(storage_->isTorn, nullptr))
    *torn = true;
  if (!isRecorded)
    return;
  for (auto [handle, shown] : seen) {
    handle->elements_ = shown;
    handle->version_ = storage_->version;
  }
}

// -- where elements lie ---------------------------------------------------------------------------
std::vector<Polynomial> plainStrides(llvm::ArrayRef<Polynomial> shape) {
  std::vector<Polynomial> out(shape.size(), Polynomial(1));
  for (size_t i = shape.size(); i-- > 1;)
    out[i - 1] = out[i] * shape[i];
  return out;
}

// Each contiguous run of dims must be a product of consecutive new dims.
Strides reshapedStrides(llvm::ArrayRef<Polynomial> shape, llvm::ArrayRef<Polynomial> strides,
                        llvm::ArrayRef<Polynomial> to) {
  const Polynomial one(1);
  std::vector<Polynomial> out(to.size(), one);
  size_t next = to.size();
  for (size_t end = shape.size(); end > 0;) {
    Polynomial innermost = strides[end - 1], run = one, made = one;
    size_t begin = end;
    do
      run *= shape[--begin];
    while (begin > 0 && (shape[begin - 1] == one || strides[begin - 1] == run * innermost));
    for (; next > 0 && (made != run || to[next - 1] == one); --next) {
      out[next - 1] = made * innermost;
      made *= to[next - 1];
    }
    if (made != run)
      return std::nullopt;
    end = begin;
  }
  return next == 0 || shape.empty() ? Strides(std::move(out)) : std::nullopt;
}

Strides TensorState::strides(emit::Emitter &emitter) {
  if (!hasPlainStrides_)
    return strides_;
  return plainStrides(graph::shapeOf(read(emitter)));
}

std::optional<bool> TensorState::isDense(emit::Emitter &emitter) {
  if (hasPlainStrides_)
    return true;
  graph::Shape shape = graph::shapeOf(read(emitter));
  if (shape.size() < 2 && !base_ && !storage_->isTorn) // a tensor that may be a view may have gaps
    return true;
  if (!strides_)
    return std::nullopt;
  std::vector<Polynomial> plain = plainStrides(shape);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != Polynomial(1) && (*strides_)[i] != plain[i])
      return false;
  return true;
}

void TensorState::mayShareWith(TensorState &other) {
  std::shared_ptr<bool> &torn = other.storage_->isTorn;
  if (!torn)
    torn = std::make_shared<bool>(false);
  storage_->isTorn = torn;
}

// Out of line, to keep the code of callers small.
IValue::IValue() = default;
IValue::IValue(const IValue &) = default;
IValue::IValue(IValue &&) noexcept = default;
IValue &IValue::operator=(const IValue &) = default;
IValue &IValue::operator=(IValue &&) noexcept = default;
IValue::~IValue() = default;

IValue IValue::list(std::vector<IValue> items, bool isTuple) {
  auto state = std::make_shared<ListState>();
  state->items = std::move(items);
  state->isTuple = isTuple;
  return IValue(std::move(state));
}

void IValue::failOnKind(const char *expected) const {
  emit::fail("has ", kindName(), " where ", expected, " is expected");
}

std::string IValue::kindName() const {
  static const char *const names[] = {"None", "tensor", "int",  "float",
                                      "bool", "string", "list", "object"};
  if (isTensor() && tensor()->isPythonNumber())
    return "number computed from data";
  if (isList())
    return (listRef()->isTuple ? "tuple of " : "list of ") + std::to_string(items().size());
  return names[data_.index()];
}

} // namespace cleave::aten
