// See StepBuilder.h.
#include "compiler/frontend/step/StepBuilder.h"

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/step/FinishStep.h"
#include "dialects/graph/MicroBatches.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/StopGradient.h"

namespace cleave::frontend {

using namespace graph;

static mlir::OwningOpRef<mlir::ModuleOp> createEmptyStep(mlir::OpBuilder &b,
                                                         const std::string &path) {
  auto location = mlir::FileLineColLoc::get(b.getContext(), path, 0, 0);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  b.setInsertionPointToStart(module->getBody());
  auto step = mlir::func::FuncOp::create(b, location, kStepName, b.getFunctionType({}, {}));
  b.setInsertionPointToStart(step.addEntryBlock());
  b.setInsertionPoint(mlir::func::ReturnOp::create(b, location));
  return module;
}

void checkStateType(const std::string &name, mlir::Value before, mlir::Value after) {
  if (before.getType() != after.getType())
    emit::fail("the program changes the shape or type of the buffer '", name,
               "', expected that it keeps them");
}

StepBuilder::StepBuilder(mlir::MLIRContext &context, const std::string &path)
    : path_(path), b_(&context), module_(createEmptyStep(b_, path)), signature_(stepOf(*module_)) {
  evaluator_.countOpsOf(b_);
}

void StepBuilder::setInsertionPointToEnd() {
  b_.setInsertionPoint(stepOf(*module_).getBody().front().getTerminator());
}

// -- arguments ------------------------------------------------------------------------------------
mlir::BlockArgument StepBuilder::addArgument(Role role, mlir::Type type, llvm::StringRef name,
                                             mlir::Attribute source) {
  return signature_.addArgument(type, name, role, source);
}

mlir::BlockArgument StepBuilder::addArgument(Role role, mlir::Type type, llvm::StringRef name,
                                             const TensorOrigin &source) {
  return addArgument(role, type, name, toAttribute(source, b_.getContext()));
}

void StepBuilder::nameAlso(const std::string &other, const std::string &parameter) {
  graph::addOtherName(module(), other, parameter);
}

void StepBuilder::freeze(mlir::BlockArgument parameter) {
  setFrozen(signature_, parameter.getArgNumber());
}

llvm::StringRef StepBuilder::nameOf(mlir::BlockArgument argument) const {
  mlir::Attribute name = signature_.argAttr(argument.getArgNumber(), "graph.name");
  return mlir::cast<mlir::StringAttr>(name).getValue();
}

// -- constants ------------------------------------------------------------------------------------
mlir::Value StepBuilder::addConstant(llvm::StringRef name, const Tensor &elements) {
  mlir::Location location = mlir::NameLoc::get(b_.getStringAttr(name));
  return emit::Emitter(b_, location, evaluator_).constant(elements);
}

mlir::Value StepBuilder::addConstant(llvm::StringRef name, mlir::DenseElementsAttr elements) {
  return ConstantOp::create(b_, mlir::NameLoc::get(b_.getStringAttr(name)), elements);
}

// -- results --------------------------------------------------------------------------------------
void StepBuilder::addOutput(mlir::Value value, llvm::StringRef name) {
  signature_.addResult(value, name, Role::Output);
}

void StepBuilder::addStateResult(mlir::BlockArgument state, mlir::Value last) {
  std::string name = nameOf(state).str();
  checkStateType(name, state, last);
  signature_.setArgAttr(state.getArgNumber(), kPerMicroBatch, b_.getUnitAttr());
  signature_.addResult(last, name, Role::State, state.getArgNumber());
}

void StepBuilder::commit() { signature_.commit(); }

Imported StepBuilder::finish(std::vector<Remark> remarks, std::string producer) {
  commit();
  finishStep(*module_, path_, evaluator_.assumptions());
  return {std::move(module_), std::move(remarks), std::move(producer)};
}

} // namespace cleave::frontend
