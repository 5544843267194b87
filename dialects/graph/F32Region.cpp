// See F32Region.h.
#include "dialects/graph/F32Region.h"

#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

// The mark of an op until the step is finished: true inside of a region.
static constexpr StringLiteral kMark = "graph.f32_region";

static FactorRule identityRule(Operation *op) {
  FactorRule rule = pointwiseRule(op);
  rule.linear = true;
  return rule;
}

FactorRule EnterF32Op::getFactorRule() { return identityRule(*this); }
Polynomial EnterF32Op::getFlops() { return 0; }
SmallVector<Tensor> EnterF32Op::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }

FactorRule LeaveF32Op::getFactorRule() { return identityRule(*this); }
Polynomial LeaveF32Op::getFlops() { return 0; }
SmallVector<Tensor> LeaveF32Op::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }

void markF32Region(Operation *op, bool isInside) {
  if (!op->hasAttr(kMark))
    op->setDiscardableAttr(kMark, BoolAttr::get(op->getContext(), isInside));
}

F32RegionScope::F32RegionScope(OpBuilder &b, bool isInside)
    : b_(b), last_(b.getInsertionPoint() == b.getInsertionBlock()->begin()
                       ? nullptr
                       : &*std::prev(b.getInsertionPoint())),
      isInside_(isInside) {}

F32RegionScope::~F32RegionScope() {
  auto op = last_ ? std::next(last_->getIterator()) : b_.getInsertionBlock()->begin();
  for (; op != b_.getInsertionPoint(); ++op)
    markF32Region(&*op, isInside_);
}

static bool isInRegion(Operation *op) {
  auto mark = op ? op->getAttrOfType<BoolAttr>(kMark) : BoolAttr();
  return mark && mark.getValue();
}

// Lets the uses of `value` on the other side of the border read it through an op.
static void buildBorder(Value value, bool isInside) {
  SmallVector<OpOperand *> beyond;
  for (OpOperand &use : value.getUses())
    if (isInRegion(use.getOwner()) != isInside)
      beyond.push_back(&use);
  if (beyond.empty() || !elementTypeOf(value).isF32() || splatValue(value))
    return;
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Value border = isInside ? LeaveF32Op::create(b, value.getLoc(), value).getResult()
                          : EnterF32Op::create(b, value.getLoc(), value).getResult();
  for (OpOperand *use : beyond)
    use->set(border);
}

void buildF32Borders(func::FuncOp step) {
  SmallVector<Operation *> ops;
  for (Operation &op : step.getBody().front())
    ops.push_back(&op);
  for (BlockArgument argument : step.getArguments())
    buildBorder(argument, /*isInside=*/false);
  for (Operation *op : ops)
    for (Value result : op->getResults())
      buildBorder(result, isInRegion(op));
  for (Operation *op : ops)
    op->removeDiscardableAttr(kMark);
}

void dropF32Borders(func::FuncOp function) {
  SmallVector<Operation *> borders;
  function.walk([&](Operation *op) {
    if (isa<EnterF32Op, LeaveF32Op>(op))
      borders.push_back(op);
  });
  for (Operation *border : borders) {
    border->replaceAllUsesWith(border->getOperands());
    border->erase();
  }
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/F32Region.cpp.inc"
