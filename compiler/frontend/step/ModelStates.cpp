// See ModelStates.h.
#include "compiler/frontend/step/ModelStates.h"

#include "compiler/frontend/emit/Emitter.h"

#include "llvm/ADT/DenseSet.h"

namespace cleave::frontend {

void buildUntilStatesAreKnown(const std::function<StateNames(const StateNames &)> &build) {
  StateNames states;
  for (StateNames found = build(states); !found.empty(); found = build(states))
    states.insert(found.begin(), found.end());
}

void ModelStates::add(const std::string &name, mlir::Value first) {
  if (!byName_.try_emplace(name, tensors_.size()).second)
    emit::fail("the program takes the buffer '", name, "' twice, expected once");
  tensors_.push_back({name, first, first});
}

void ModelStates::setLast(const std::string &name, mlir::Value last) {
  Tensor &tensor = tensors_[byName_.at(name)];
  checkStateType(name, tensor.first, last);
  tensor.last = last;
}

// The value of which `value` is a copy in another form, or repeated.
static mlir::Value copiedFrom(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() == 0 || !llvm::all_equal(op->getOperands()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

void ModelStates::keepStatistics(llvm::ArrayRef<mlir::Value> statistics) {
  llvm::DenseSet<mlir::Value> sources;
  for (mlir::Value value : statistics)
    sources.insert(copiedFrom(value));
  for (const Tensor &tensor : tensors_)
    if (sources.contains(tensor.first) && !isState(tensor.name))
      missing_.insert(tensor.name);
}

StateNames ModelStates::addResults() {
  for (const Tensor &tensor : tensors_) {
    if (tensor.last == tensor.first)
      continue;
    if (isState(tensor.name))
      step_.addStateResult(mlir::cast<mlir::BlockArgument>(tensor.first), tensor.last);
    else
      missing_.insert(tensor.name);
  }
  return std::move(missing_);
}

} // namespace cleave::frontend
