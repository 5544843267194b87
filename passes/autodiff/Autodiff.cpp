// The backward sweep: from the target to the front of the block, op by op.
#include "passes/autodiff/Autodiff.h"

#include "dialects/graph/StopGradient.h"
#include "passes/autodiff/rules/Rules.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::autodiff {

namespace {

class Sweep {
public:
  Sweep(OpBuilder &b, Value target)
      : b_(target.getLoc(), b.getBlock(), b.getInsertionPoint()), target_(target) {}

  LogicalResult run(ArrayRef<Value> wrt, SmallVectorImpl<Value> &grads) {
    findActive(wrt);
    if (active_.contains(target_)) { // which may be one of `wrt` itself
      summands_[target_] = {buildSplat(b_, b_.getLoc(), target_.getType(), 1)};
      for (Operation *op = target_.getDefiningOp(); op; op = op->getPrevNode())
        if (failed(differentiate(op)))
          return failure();
    }
    const llvm::DenseSet<Value> read = readByTarget();
    for (Value value : wrt) {
      Value gradient = gradientOf(value);
      if (!gradient && read.contains(value)) // through ops whose slope is 0, such as floor
        gradient = buildSplat(b_, value.getLoc(), value.getType(), 0);
      grads.push_back(gradient);
    }
    return success();
  }

private:
  // A value is active if it is a float that depends on one of `wrt`, other than through a
  // stop_gradient.
  void findActive(ArrayRef<Value> wrt) {
    active_.insert(wrt.begin(), wrt.end());
    for (Operation &op : *target_.getParentBlock())
      if (!isa<StopGradientOp>(op) &&
          llvm::any_of(op.getOperands(), [&](Value v) { return active_.contains(v); }))
        for (Value result : op.getResults())
          if (isa<FloatType>(elementTypeOf(result)))
            active_.insert(result);
  }

  // Active values on which the target depends through active values. Skips operands for which a
  // rule returns no gradient while it returns one for others: running statistics of batch norms.
  llvm::DenseSet<Value> readByTarget() {
    llvm::DenseSet<Value> read{target_};
    for (Operation &op : llvm::reverse(*target_.getParentBlock()))
      if (!isa<StopGradientOp>(op) &&
          llvm::any_of(op.getResults(), [&](Value v) { return read.contains(v); }))
        for (OpOperand &operand : op.getOpOperands())
          if (active_.contains(operand.get()) && !without_.contains(&operand))
            read.insert(operand.get());
    return read;
  }

  // Adds to the gradients of the op's operands what follows from that of its first result.
  LogicalResult differentiate(Operation *op) {
    if (op->getNumResults() == 0 || !summands_.contains(op->getResult(0)) ||
        llvm::none_of(op->getOperands(), [&](Value v) { return active_.contains(v); }))
      return success();
    const Rule *rule = rules_.find(op->getName().getStringRef());
    if (!rule) {
      auto diag = emitError(op->getLoc())
                  << "'" << op->getName() << "' has no gradient, but the loss depends on trainable "
                  << "parameters through it; freeze them or choose another loss";
      for (Value operand : op->getOperands())
        if (active_.contains(operand)) {
          diag.attachNote(operand.getLoc()) << "this operand depends on trainable parameters";
          break;
        }
      return diag;
    }
    b_.setLoc(op->getLoc());
    Value gradient = gradientOf(op->getResult(0));
    Operation *before = lastBuilt();
    Gradients gradients =
        (*rule)(op, {&b_, gradient}, [&](Value v) { return active_.contains(v); });
    // Ops that the rule built get the location of this op, not of the ops that they read.
    for (Operation *built = lastBuilt(); built != before; built = built->getPrevNode())
      built->setLoc(op->getLoc());
    const bool isFlat = llvm::none_of(gradients, [](Value part) { return bool(part); });
    for (auto [operand, part] : llvm::zip_equal(op->getOpOperands(), gradients))
      if (part && active_.contains(operand.get()))
        summands_[operand.get()].push_back(part);
      else if (!part && !isFlat)
        without_.insert(&operand);
    return success();
  }

  // The op after which the next one is built; null at the beginning of the block.
  Operation *lastBuilt() {
    Block::iterator end = b_.getInsertionPoint();
    return end == b_.getBlock()->begin() ? nullptr : &*std::prev(end);
  }

  // The sum of the contributions of the value's users, built once; null if there are none.
  Value gradientOf(Value value) {
    auto entry = summands_.find(value);
    if (entry == summands_.end())
      return {};
    SmallVector<Value> &parts = entry->second;
    if (Value joined = joinSlices(parts))
      parts = {joined};
    while (parts.size() > 1) {
      Value first = parts[0];
      parts[1] = AddOp::create(b_, first, parts[1]);
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
    return ConcatOp::create(b_, slices, dim);
  }

  ImplicitLocOpBuilder b_;
  Value target_;
  RuleTable rules_;
  llvm::DenseSet<Value> active_;
  llvm::DenseMap<Value, SmallVector<Value>> summands_;
  llvm::DenseSet<OpOperand *>
      without_; // operands to which a rule gives no gradient, but others one
};

} // namespace

// Erases the ops between `before` and `end` whose results are neither in `kept` nor used.
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

} // namespace cleave::autodiff
