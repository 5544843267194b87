// See Value.h.
#include "compiler/frontend/aten/Value.h"

#include "compiler/frontend/emit/Emitter.h"

#include <cassert>

namespace cleave::aten {

// A program that stacks more views than this is damaged.
static constexpr int kMaxViews = 1000;

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

TensorRef TensorState::viewOf(TensorRef base, mlir::Value elements, ViewStep step, bool isDense) {
  if (base->depth_ >= kMaxViews)
    emit::fail("is a view of a view of a view …, more than " + std::to_string(kMaxViews) +
               " of them");
  assert(base->storage_ && "the base has been read");
  auto tensor = std::make_shared<TensorState>();
  tensor->storage_ = base->storage_;
  tensor->depth_ = base->depth_ + 1;
  tensor->step_ = std::move(step);
  tensor->elements_ = elements;
  tensor->version_ = base->storage_->version;
  tensor->isDense_ = isDense && base->isDense_;
  tensor->base_ = std::move(base);
  return tensor;
}

mlir::Value TensorState::read(emit::Emitter &emitter) {
  if (!storage_) {
    storage_ = std::make_shared<Storage>();
    storage_->contents = emitter.size(*number_);
  }
  if (!base_)
    return storage_->contents;
  if (version_ != storage_->version) {
    elements_ = step_.read(emitter, base_->read(emitter));
    version_ = storage_->version;
  }
  return elements_;
}

void TensorState::write(emit::Emitter &emitter, mlir::Value elements) {
  mlir::Value whole = elements;
  // From view to base; what is seen through this handle is `elements`.
  for (TensorState *at = this; at->base_; at = at->base_.get()) {
    if (!at->step_.write)
      emit::fail("writes to a view that shows one element several times");
    whole = at->step_.write(emitter, at->base_->read(emitter), whole);
  }
  read(emitter); // a number gets its storage
  number_.reset();
  storage_->contents = whole;
  ++storage_->version;
  elements_ = elements;
  version_ = storage_->version;
}

// Out of line, so that the many places that make values stay small.
Value::Value() = default;
Value::Value(const Value &) = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(const Value &) = default;
Value &Value::operator=(Value &&) noexcept = default;
Value::~Value() = default;

Value Value::list(std::vector<Value> items, bool isTuple) {
  auto state = std::make_shared<ListState>();
  state->items = std::move(items);
  state->isTuple = isTuple;
  return Value(std::move(state));
}

void Value::failOnKind(const char *expected) const {
  emit::fail("has " + kindName() + " where " + expected + " is expected");
}

std::string Value::kindName() const {
  static const char *const names[] = {"None", "tensor", "int",  "float",
                                      "bool", "string", "list", "object"};
  if (isList())
    return (listRef()->isTuple ? "tuple of " : "list of ") + std::to_string(items().size());
  return names[data_.index()];
}

} // namespace cleave::aten
