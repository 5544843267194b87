// See FinishStep.h.
#include "compiler/frontend/FinishStep.h"

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cleave::frontend {
namespace {

using namespace graph;

void findConstants(mlir::func::FuncOp step) {
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> open;
  auto reach = [&](mlir::ValueRange values) {
    for (mlir::Value value : values)
      if (mlir::isa<mlir::FloatType>(elementTypeOf(value)) && reached.insert(value).second)
        open.push_back(value);
  };
  reach(step.getBody().front().getTerminator()->getOperands());
  while (!open.empty())
    if (mlir::Operation *op = open.pop_back_val().getDefiningOp())
      reach(op->getOperands());
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == "parameter" && !reached.contains(step.getArgument(i)))
      step.setArgAttr(i, "graph.role", mlir::StringAttr::get(step.getContext(), "constant"));
}

// A stop matters only to what depends on a parameter by other ways than through stops.
void dropNeedlessStops(mlir::func::FuncOp step) {
  llvm::DenseSet<mlir::Value> active;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == "parameter")
      active.insert(step.getArgument(i));
  for (mlir::Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    bool depends =
        llvm::any_of(op.getOperands(), [&](mlir::Value v) { return active.contains(v); });
    auto stop = mlir::dyn_cast<StopGradientOp>(op);
    if (stop && !depends) {
      stop.getResult().replaceAllUsesWith(stop.getOperand());
      stop->erase();
    } else if (!stop && depends) {
      for (mlir::Value result : op.getResults())
        if (mlir::isa<mlir::FloatType>(elementTypeOf(result)))
          active.insert(result);
    }
  }
}

// Results name those that they replace by number.
void eraseArgument(mlir::func::FuncOp step, unsigned i) {
  (void)step.eraseArgument(i);
  mlir::Builder b(step.getContext());
  for (unsigned result = 0; result < step.getNumResults(); ++result)
    if (std::optional<unsigned> alias = aliasOf(step, result); alias && *alias > i)
      step.setResultAttr(result, "graph.alias", b.getI64IntegerAttr(*alias - 1));
}

} // namespace

void finishStep(mlir::ModuleOp module) {
  mlir::func::FuncOp step = stepOf(module);
  findConstants(step);
  dropNeedlessStops(step);
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = step.getNumArguments(); i-- > 0;)
    if (argRole(step, i) == "constant" && step.getArgument(i).use_empty())
      eraseArgument(step, i);
  if (mlir::failed(mlir::verify(module)))
    throw emit::Failure{Status::defect("the imported model does not verify")};
}

} // namespace cleave::frontend
