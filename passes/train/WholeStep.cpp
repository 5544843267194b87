// See WholeStep.h.
#include "passes/train/WholeStep.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "passes/train/Parts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

static Value scaled(OpBuilder &b, Value value, double factor) {
  return factor == 1 ? value
                     : MulOp::create(b, value.getLoc(), value, buildSplatLike(b, value, factor))
                           .getResult();
}

static Value chosenOr(OpBuilder &b, Value condition, Value yes, double no) {
  return SelectOp::create(b, yes.getLoc(), yes.getType(), condition, yes,
                          buildSplatLike(b, yes, no));
}

static Value isPositive(OpBuilder &b, Value value) {
  return CompareOp::create(b, value.getLoc(), Predicate::GT, value, buildSplatLike(b, value, 0));
}

Value quotient(OpBuilder &b, Value sum, Value count) {
  Value isAny = isPositive(b, count);
  Value mean = DivOp::create(b, sum.getLoc(), sum, chosenOr(b, isAny, count, 1));
  return chosenOr(b, isAny, mean, std::numeric_limits<double>::quiet_NaN());
}

static bool isNumber(Value value) { return elementCount(value.getType()) == Polynomial(1); }

Value WholeStep::allOf(Value argument) {
  const unsigned number = cast<BlockArgument>(argument).getArgNumber();
  const std::string name = argName(step_, number).str(), all = name + "/step";
  if (std::optional<unsigned> known = argNamed(step_, all))
    return step_.getArgument(*known);
  Shape shape = shapeOf(argument);
  shape[0] = shape[0] * Polynomial(microBatches_);
  Value added =
      addArgument(step_, tensorOf(shape, elementTypeOf(argument)), all, *argRole(step_, number));
  step_.setArgAttr(cast<BlockArgument>(added).getArgNumber(), kAllOf,
                   StringAttr::get(step_.getContext(), name));
  return added;
}

Value WholeStep::partOfSum(OpBuilder &b, Value sum) const {
  return scaled(b, sum, static_cast<double>(microBatches_));
}

Value WholeStep::partOfQuotient(OpBuilder &b, Value sum, Value all) const {
  return quotient(b, partOfSum(b, sum), all);
}

// mean × (share of the labels) × microBatches; the factor cancels the mean over micro-batches.
Value WholeStep::partOfMean(OpBuilder &b, Value mean, Value count, Value all) const {
  Value counted = chosenOr(b, isPositive(b, count), mean, 0);
  Value share = quotient(b, partOfSum(b, count), all);
  return MulOp::create(b, mean.getLoc(), counted, share);
}

std::optional<SmallVector<Operation *>> WholeStep::opsOfInputs(Value value) const {
  SmallVector<Value> open{value};
  llvm::DenseSet<Operation *> seen;
  bool readsInput = false;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      const unsigned i = argument.getArgNumber();
      const bool isInput = isPerMicroBatch(step_, i) && rankOf(next) > 0;
      if (!isInput && argRole(step_, i) != Role::Constant)
        return std::nullopt;
      readsInput |= isInput;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!isMemoryEffectFree(op))
      return std::nullopt;
    if (seen.insert(op).second)
      open.append(op->operand_begin(), op->operand_end());
  }
  if (!readsInput)
    return std::nullopt;
  SmallVector<Operation *> ops(seen.begin(), seen.end());
  llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return ops;
}

// The ops on the samples of one micro-batch after the other, since a value may hold them along any
// dim.
Value WholeStep::total(OpBuilder &b, Value value) {
  std::optional<SmallVector<Operation *>> ops = opsOfInputs(value);
  if (!ops)
    return {};
  Value sum;
  for (int64_t slot = 0; slot < microBatches_; ++slot) {
    IRMapping mapped;
    auto map = [&](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument || mapped.contains(operand) || !isPerMicroBatch(step_, argument.getArgNumber()))
        return;
      Value all = allOf(operand);
      mapped.map(operand, SliceOp::create(b, value.getLoc(), operand.getType(), all, /*dim=*/0,
                                          shapeOf(operand)[0] * Polynomial(slot), /*stride=*/1));
    };
    for (Operation *op : *ops) {
      llvm::for_each(op->getOperands(), map);
      b.clone(*op, mapped);
    }
    map(value);
    Value one = mapped.lookup(value);
    sum = sum ? AddOp::create(b, value.getLoc(), sum, one).getResult() : one;
  }
  return sum;
}

Value WholeStep::ofTotals(OpBuilder &b, Value value) {
  std::optional<SmallVector<Operation *>> ops = opsOfInputs(value);
  if (!ops || !isNumber(value))
    return {};
  IRMapping mapped;
  llvm::DenseSet<Value> ofInputs; // that depend on inputs
  auto dependsOnInputs = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument ? isPerMicroBatch(step_, argument.getArgNumber()) : ofInputs.contains(operand);
  };
  for (Operation *op : *ops) {
    if (!llvm::any_of(op->getOperands(), dependsOnInputs))
      continue;
    ofInputs.insert(op->result_begin(), op->result_end());
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce && reduce.getKind() == Reduction::Sum && isNumber(reduce.getResult())) {
      mapped.map(reduce.getResult(), total(b, reduce.getResult()));
      continue;
    }
    bool isKnown = llvm::all_of(op->getOperands(), [&](Value operand) {
      return mapped.contains(operand) || !dependsOnInputs(operand);
    });
    if (isKnown)
      b.clone(*op, mapped);
  }
  return mapped.lookupOrNull(value);
}

// Walks over the ops from a loss that is an output back to the terms that it is a sum of.
class LossTerms {
public:
  LossTerms(WholeStep &whole, OpBuilder &b) : whole_(whole), b_(b) {}

  Value partOf(Value loss, StringRef name) {
    for (Operation *op : numbersBefore(loss))
      build(op);
    if (!isExact_)
      emitWarning(whole_.step_.getLoc())
          << "the loss output:" << name << " is averaged over the " << whole_.microBatches()
          << " micro-batches of a step with equal weights, since it depends on numbers of labels "
             "or "
             "samples in another way than as the divisors of its terms; where they differ between "
             "micro-batches, it is not the loss of the whole batch";
    return parts_.lookupOrDefault(loss);
  }

private:
  // The ops with single numbers as results that the loss depends on through such ops, in program
  // order.
  static SmallVector<Operation *> numbersBefore(Value loss) {
    SmallVector<Value> open{loss};
    llvm::DenseSet<Operation *> seen;
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (op && op->getNumResults() == 1 && isNumber(op->getResult(0)) && seen.insert(op).second)
        open.append(op->operand_begin(), op->operand_end());
    }
    SmallVector<Operation *> ops(seen.begin(), seen.end());
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    return ops;
  }

  bool hasPart(Value value) const { return parts_.contains(value); }

  // Whether the number differs between micro-batches by its inputs alone.
  bool isOfInputs(Value value) const { return whole_.opsOfInputs(value).has_value(); }

  // Whether a sum of terms stays one: every other operand is the same for all micro-batches, or has
  // a mean.
  bool isLinear(Operation *op) const {
    auto pointwise = dyn_cast<PointwiseInterface>(op);
    if ((pointwise && pointwise.isLinear()) || op->hasTrait<UnaryCopy>() || isa<CastOp>(op))
      return true;
    const bool isQuotient = isa<DivOp>(op) && hasPart(op->getOperand(0));
    return (isa<MulOp>(op) && hasPart(op->getOperand(0)) != hasPart(op->getOperand(1)) &&
            !isOfStep(op->getOperand(hasPart(op->getOperand(0)) ? 1 : 0))) ||
           (isQuotient && !hasPart(op->getOperand(1)) && !isOfStep(op->getOperand(1)));
  }

  // Whether the number depends on inputs at all.
  bool isOfStep(Value value) const {
    SmallVector<Value> open{value};
    llvm::DenseSet<Value> seen;
    while (!open.empty()) {
      Value next = open.pop_back_val();
      auto argument = dyn_cast<BlockArgument>(next);
      if (argument && isFed(whole_.step_, argument.getArgNumber()))
        return true;
      if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second)
        open.append(op->operand_begin(), op->operand_end());
    }
    return false;
  }

  void set(Operation *op, Value part) {
    parts_.map(op->getResult(0), buildCast(b_, part, elementTypeOf(op->getResult(0))));
  }

  void build(Operation *op) {
    b_.setInsertionPointAfter(op);
    if (auto loss = dyn_cast<SoftmaxCrossEntropyOp>(op))
      return buildCrossEntropy(loss);
    if (auto quotient = dyn_cast<DivOp>(op); quotient && isOfInputs(quotient.getRhs()))
      return buildQuotient(quotient);
    if (auto select = dyn_cast<SelectOp>(op); select && hasPart(select.getOnTrue()))
      return buildSelect(select);
    if (!llvm::any_of(op->getOperands(), [&](Value operand) { return hasPart(operand); }))
      return;
    if (isLinear(op))
      parts_.map(op->getResult(0), b_.clone(*op, parts_)->getResult(0));
    else
      isExact_ = false;
  }

  void buildCrossEntropy(SoftmaxCrossEntropyOp op) {
    if (!isOfStep(op.getLabels()))
      return;
    Value labels = op.getLabels(), mean = widened(b_, op.getResult());
    Value isCounted = CompareOp::create(
        b_, op.getLoc(), Predicate::NE, labels,
        buildSplatLike(b_, labels, static_cast<double>(static_cast<int64_t>(op.getIgnoreIndex()))));
    Value weights = buildCast(b_, isCounted, elementTypeOf(mean));
    Value count = buildReduce(b_, Reduction::Sum, weights,
                              llvm::to_vector(llvm::seq<int64_t>(0, rankOf(weights))));
    if (Value all = whole_.total(b_, count))
      set(op, whole_.partOfMean(b_, mean, count, all));
    else
      isExact_ = false;
  }

  // The numerator is a sum over samples, divided by a sum over samples.
  void buildQuotient(DivOp op) {
    Value all =
        hasPart(op.getLhs()) || !isOfStep(op.getLhs()) ? Value() : whole_.ofTotals(b_, op.getRhs());
    if (!all) {
      isExact_ = false;
      return;
    }
    Value part = DivOp::create(b_, op.getLoc(), op.getLhs(), all);
    set(op, whole_.partOfSum(b_, part));
  }

  // A term that has another value where the number of labels is 0.
  void buildSelect(SelectOp op) {
    Value condition = whole_.ofTotals(b_, op.getCondition());
    if (!condition || hasPart(op.getOnFalse()) || isOfStep(op.getOnFalse())) {
      isExact_ = false;
      return;
    }
    set(op, SelectOp::create(b_, op.getLoc(), op.getType(), condition,
                             parts_.lookup(op.getOnTrue()), op.getOnFalse()));
  }

  WholeStep &whole_;
  OpBuilder &b_;
  IRMapping parts_; // of terms and of sums of terms
  bool isExact_ = true;
};

Value WholeStep::partOfOutput(OpBuilder &b, Value loss, StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  return LossTerms(*this, b).partOf(loss, name);
}

} // namespace cleave::train
