// Gradients of movement ops: the elements of dy move back; where one element went to several
// places, they add up.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

static Gradients reshape(ReshapeOp op, Term dy) {
  return {buildReshape(*dy.b, dy, shapeOf(op.getOperand()))};
}

static Gradients transpose(TransposeOp op, Term dy) {
  SmallVector<int64_t> inverse(op.getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(op.getPermutation()))
    inverse[dim] = static_cast<int64_t>(i);
  return {buildTranspose(*dy.b, dy, inverse)};
}

static Gradients broadcast(BroadcastOp op, Term dy) {
  SmallVector<int64_t> repeated, kept(op.getDims());
  for (int64_t dim = 0; dim < rankOf(dy); ++dim)
    if (!llvm::is_contained(kept, dim))
      repeated.push_back(dim);
  llvm::sort(kept);
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getDims())
    permutation.push_back(llvm::find(kept, dim) - kept.begin());
  return {buildTranspose(*dy.b, sum(dy, repeated), permutation)};
}

static Gradients slice(SliceOp op, Term dy) {
  return {PadOp::create(*dy.b, op.getOperand().getType(), dy, op.getDim(), op.startSize(),
                        op.getStride() - 1, 0.0)};
}

static Gradients pad(PadOp op, Term dy) {
  return {SliceOp::create(*dy.b, op.getOperand().getType(), dy, op.getDim(), op.lowSize(),
                          op.getInterior() + 1)};
}

static Gradients concat(ConcatOp op, Term dy) {
  Gradients gradients;
  Polynomial start(0);
  for (Value operand : op.getOperands()) {
    gradients.push_back(SliceOp::create(*dy.b, operand.getType(), dy, op.getDim(), start, 1));
    start += shapeOf(operand)[op.getDim()];
  }
  return gradients;
}

void addMovementRules(RuleTable &table) {
  table.add<ReshapeOp>(reshape);
  table.add<TransposeOp>(transpose);
  table.add<BroadcastOp>(broadcast);
  table.add<SliceOp>(slice);
  table.add<PadOp>(pad);
  table.add<ConcatOp>(concat);
  table.add<ReverseOp>([](ReverseOp op, Term dy) -> Gradients {
    return {ReverseOp::create(*dy.b, dy, op.getDim())};
  });
}

} // namespace cleave::autodiff
