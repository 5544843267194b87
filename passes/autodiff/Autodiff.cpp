// The backward sweep: from the target to the front of the block, op by op.
#include "passes/autodiff/Autodiff.h"

#include "dialects/graph/StopGradient.h"
#include "passes/autodiff/rules/Rules.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave {

namespace {

class Sweep {
public:
  Sweep(OpBuilder &b, Value target)
      : b(target.getLoc(), b.getBlock(), b.getInsertionPoint()), target(target) {}

  LogicalResult run(ArrayRef<Value> wrt, SmallVectorImpl<Value> &grads) {
    findActive(wrt);
    Operation *last = target.getDefiningOp();
    if (last && active.contains(target)) {
      summands[target] = {buildSplat(b, b.getLoc(), target.getType(), 1)};
      for (Operation *op = last; op; op = op->getPrevNode())
        if (failed(differentiate(op)))
          return failure();
    }
    for (Value value : wrt)
      grads.push_back(gradientOf(value));
    return success();
  }

private:
  // A value is active if it is a float that depends on one of `wrt`, other than through a stop_gradient.
  void findActive(ArrayRef<Value> wrt) {
    active.insert(wrt.begin(), wrt.end());
    for (Operation &op : *target.getParentBlock())
      if (!isa<StopGradientOp>(op) &&
          llvm::any_of(op.getOperands(), [&](Value v) { return active.contains(v); }))
        for (Value result : op.getResults())
          if (isa<FloatType>(elementTypeOf(result)))
            active.insert(result);
  }

  // Hands the gradient of the op's first result on to its operands.
  LogicalResult differentiate(Operation *op) {
    if (op->getNumResults() == 0 || !summands.contains(op->getResult(0)) ||
        llvm::none_of(op->getOperands(), [&](Value v) { return active.contains(v); }))
      return success();
    const autodiff::Rule *rule = rules.find(op->getName().getStringRef());
    if (!rule)
      return emitError(op->getLoc())
             << "'" << op->getName() << "' has no gradient, but the loss depends on trainable "
             << "parameters through it; freeze them or choose another loss";
    b.setLoc(op->getLoc());
    Value gradient = gradientOf(op->getResult(0));
    Operation *before = lastBuilt();
    autodiff::Gradients gradients = (*rule)(op, {&b, gradient});
    // What the rule built belongs to this op, not to those whose results it reads.
    for (Operation *built = lastBuilt(); built != before; built = built->getPrevNode())
      built->setLoc(op->getLoc());
    for (auto [operand, part] : llvm::zip_equal(op->getOperands(), gradients))
      if (part && active.contains(operand))
        summands[operand].push_back(part);
    return success();
  }

  // The op behind which the next one is built.
  Operation *lastBuilt() {
    Block::iterator end = b.getInsertionPoint();
    return end == b.getBlock()->begin() ? nullptr : &*std::prev(end);
  }

  // The sum of what the users of the value contributed; null if there was nothing. Computed once.
  Value gradientOf(Value value) {
    auto entry = summands.find(value);
    if (entry == summands.end())
      return {};
    SmallVector<Value> &parts = entry->second;
    if (Value joined = joinSlices(parts))
      parts = {joined};
    while (parts.size() > 1) {
      Value first = parts[0];
      parts[1] = AddOp::create(b, first, parts[1]);
      parts.erase(parts.begin());
    }
    return parts[0];
  }

  // Gradients of slices that together make up the whole dim are concatenated instead of padded and
  // added.
  Value joinSlices(ArrayRef<Value> parts) {
    SmallVector<PadOp> pads;
    for (Value part : parts) {
      auto pad = part.getDefiningOp<PadOp>();
      if (!pad || pad.getInterior() != 0 || !pad.getValue().isZero() ||
          (!pads.empty() && pad.getDim() != pads[0].getDim()))
        return {};
      pads.push_back(pad);
    }
    if (pads.size() < 2)
      return {};
    llvm::sort(pads, [](PadOp x, PadOp y) { return x.getLow() < y.getLow(); });
    int64_t dim = pads[0].getDim();
    Polynomial end(0);
    SmallVector<Value> slices;
    for (PadOp pad : pads) {
      if (end != Polynomial(static_cast<int64_t>(pad.getLow())))
        return {};
      end += shapeOf(pad.getOperand())[dim];
      slices.push_back(pad.getOperand());
    }
    if (end != shapeOf(parts[0])[dim])
      return {};
    return ConcatOp::create(b, slices, dim);
  }

  ImplicitLocOpBuilder b;
  Value target;
  autodiff::RuleTable rules;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, SmallVector<Value>> summands;
};

} // namespace

// Erases those of the ops after `before` and in front of `end` that neither `kept` nor other ops
// use.
static void eraseUnused(Block *block, Operation *before, Block::iterator end,
                        ArrayRef<Value> kept) {
  llvm::DenseSet<Value> keep(kept.begin(), kept.end());
  Operation *op = end == block->begin() ? nullptr : &*std::prev(end);
  while (op && op != before) {
    Operation *previous = op->getPrevNode();
    bool isKept = llvm::any_of(op->getResults(), [&](Value v) { return keep.contains(v); });
    if (!isKept && isOpTriviallyDead(op))
      op->erase();
    op = previous;
  }
}

LogicalResult buildGradients(OpBuilder &b, Value target, ArrayRef<Value> wrt,
                             SmallVectorImpl<Value> &grads) {
  Block *block = b.getBlock();
  Block::iterator end = b.getInsertionPoint();
  Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
  if (failed(Sweep(b, target).run(wrt, grads)))
    return failure();
  eraseUnused(block, before, end, grads);
  return success();
}

} // namespace cleave
