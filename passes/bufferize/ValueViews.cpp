// Keeps the views, tenants and last uses up to date, and copies values that do not lie as expected.
#include "passes/bufferize/ValueViews.h"

using namespace mlir;

namespace cleave::bufferize {

const View *ValueViews::find(Value value) const {
  auto it = views_.find(value);
  return it == views_.end() ? nullptr : &it->second;
}

View ValueViews::of(Value value) {
  if (const View *known = find(value))
    return *known;
  std::optional<double> splat = graph::splatValue(value);
  assert(splat && "a value has no view yet");
  View view = buffers_.add(value);
  program_.fill(view.buffer, *splat);
  set(value, view);
  return view;
}

View ValueViews::wholeOf(Value value, ArrayRef<int64_t> order) {
  View view = of(value);
  return isWhole(view, order) ? view : copyToDense(program_, view, order);
}

View ValueViews::forwardOf(Value value) {
  View view = of(value);
  bool isForward = llvm::all_of(view.strides, [](int64_t stride) { return stride >= 0; });
  return isForward ? view : copyToDense(program_, view);
}

View ValueViews::resultView(Value result) {
  const View *destination = destinationOf(result);
  return destination ? *destination : buffers_.add(result);
}

View ValueViews::wholeResult(Value result, ArrayRef<int64_t> order) {
  if (const View *destination = destinationOf(result); destination && isWhole(*destination, order))
    return *destination;
  if (buffers_.chosenOrder(result) == order)
    return buffers_.add(result);
  return order.empty() ? buffers_.addIn(result, llvm::to_vector(llvm::seq(graph::rankOf(result))))
                       : buffers_.addIn(result, order);
}

void ValueViews::finishWhole(Value result, const View &made) {
  const View *destination = destinationOf(result);
  const SmallVector<int64_t> order = buffers_.chosenOrder(result);
  if (!destination)
    return set(result, isWhole(made, order) ? made : copyToDense(program_, made, order));
  if (*destination == made)
    return set(result, made);
  program_.copy(made, *destination);
  set(result, *destination);
}

void ValueViews::set(Value value, View view) {
  const int lastUse = order_.lastUseOf(value);
  int &last = bufferLastUse_.try_emplace(view.buffer, lastUse).first->second;
  last = std::max(last, lastUse);
  moveIn(value, view);
  views_[value] = std::move(view);
}

void ValueViews::moveIn(Value value, const View &view) {
  if (!buffers_.hasAll(view))
    return;
  Operation *op = value.getDefiningOp();
  SmallVector<Value, 1> &tenants = tenants_[view.buffer];
  if (tenants.empty() || (op && !order_.isAliasing(op) && !isNeverFree(view.buffer)))
    tenants.push_back(value);
}

ArrayRef<Value> ValueViews::tenantsOf(Value buffer) const {
  auto it = tenants_.find(buffer);
  return it == tenants_.end() ? ArrayRef<Value>() : it->second;
}

bool ValueViews::diesAt(const View &view, Operation *op) const {
  return !isNeverFree(view.buffer) && bufferLastUse_.lookup(view.buffer) <= order_.positionOf(op);
}

} // namespace cleave::bufferize
