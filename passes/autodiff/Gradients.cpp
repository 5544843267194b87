// The pass that differentiates a function.
#include "passes/autodiff/Autodiff.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::autodiff {

#define GEN_PASS_DEF_GRADIENTSPASS
#include "passes/autodiff/Passes.h.inc"

namespace {

struct GradientsPass : impl::GradientsPassBase<GradientsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Operation *end = function.getBody().front().getTerminator();
    auto isFloat = [](Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); };
    SmallVector<Value> wrt(llvm::make_filter_range(function.getArguments(), isFloat)), gradients;
    OpBuilder b(end);
    if (end->getNumOperands() == 0 || failed(buildGradients(b, end->getOperand(0), wrt, gradients)))
      return signalPassFailure();
    llvm::erase(gradients, Value());
    end->setOperands(gradients);
    function.setType(
        b.getFunctionType(function.getArgumentTypes(), ValueRange(gradients).getTypes()));
  }
};

} // namespace

void registerAutodiffPasses() { PassRegistration<GradientsPass>(); }

} // namespace cleave::autodiff
