// Widens weight gradients to f32, and narrows those of convolutions for cuDNN.
#include "passes/precision/Precision.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Graph.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::precision {

// Whether nothing but the gradient reads `value`, a product or copies of products.
static bool isWidenable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getNumResults() != 1)
    return false;
  return op->hasTrait<MatrixProduct>() ||
         (op->hasTrait<ElementCopy>() && llvm::all_of(op->getOperands(), isWidenable));
}

static void widen(Value value, Type wide) {
  Operation *op = value.getDefiningOp();
  if (!op->hasTrait<MatrixProduct>())
    for (Value operand : op->getOperands())
      widen(operand, wide);
  value.setType(cast<RankedTensorType>(value.getType()).clone(wide));
}

Value widenGradient(Value gradient) {
  Type wide = elementTypeOf(gradient);
  SmallVector<Value> stack = {gradient};
  llvm::DenseSet<Value> seen = {gradient};
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    auto pointwise = dyn_cast_or_null<PointwiseInterface>(op);
    if (auto narrow = dyn_cast_or_null<CastOp>(op)) {
      Value product = narrow.getOperand();
      if (!isProductType(wide, elementTypeOf(product)) || !isWidenable(product))
        continue;
      widen(product, wide);
      value.replaceAllUsesWith(product);
      if (value == gradient)
        gradient = product;
      op->erase();
    } else if (op && (op->hasTrait<ElementCopy>() || (pointwise && pointwise.isLinear()))) {
      for (Value operand : op->getOperands())
        if (seen.insert(operand).second)
          stack.push_back(operand);
    }
  }
  return gradient;
}

void narrowConvolutionGradients(func::FuncOp step) {
  step.walk([](ConvWeightGradOp op) {
    Value result = op.getResult();
    const Type wide = elementTypeOf(result), narrow = elementTypeOf(op.getInput());
    if (wide == narrow)
      return;
    result.setType(cast<RankedTensorType>(result.getType()).clone(narrow));
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Value stored = buildCast(b, result, wide);
    result.replaceAllUsesExcept(stored, stored.getDefiningOp());
  });
}

} // namespace cleave::precision
