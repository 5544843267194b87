// Gradients of attention and rotary.
#include "dialects/graph/Attention.h"
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

static Gradients attention(AttentionOp op, Term dy, Wanted wanted) {
  // Without a seed nothing is dropped.
  FloatAttr dropout = op.getSeed() ? op.getDropoutAttr() : FloatAttr();
  SmallVector<Type> types = {op.getQuery().getType(), op.getKey().getType(),
                             op.getValue().getType()};
  Type biasType = op.getBias() && wanted(op.getBias()) ? op.getBias().getType() : Type();
  auto gradients = AttentionGradOp::create(
      *dy.b, types[0], types[1], types[2], biasType, op.getQuery(), op.getKey(), op.getValue(),
      op.getResult(), op.getLse(), dy, op.getBias(), op.getMask(), op.getSeed(), op.getOffsets(),
      op.getScaleAttr(), op.getCausalAttr(), op.getFillAttr(), dropout, op.getOffsetDimsAttr(),
      op.getWholeAttr());
  Gradients out(gradients.getResults());
  out.resize(op->getNumOperands());
  return out;
}

// The turn's transpose is its negative.
static Gradients rotary(RotaryOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, cos{dy.b, op.getCos()}, sin{dy.b, op.getSin()};
  auto turn = [&](Term value) {
    return Term{dy.b, buildRotated(*dy.b, value, op.getInterleaved())};
  };
  return {dy * cos - turn(dy * sin), dy * x, dy * turn(x)};
}

void addAttentionRules(RuleTable &table) {
  table.add<AttentionOp>(attention);
  table.add<RotaryOp>(rotary);
}

} // namespace cleave::autodiff
