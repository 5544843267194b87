// Gradients of attention and rotary. The weights are built again as the decomposition builds them,
// and merged by CSE.
#include "dialects/graph/Attention.h"
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

// Where scores do not count, their gradients are zero: of the select in the decomposition.
static Term masked(AttentionOp op, Term dScores) {
  if (op.getMask())
    dScores = select({dScores.b, op.getMask()}, dScores, 0);
  if (!op.getCausal())
    return dScores;
  Shape shape = shapeOf(dScores);
  Type type = tensorOf(Shape(shape.end() - 2, shape.end()), dScores.b->getI64Type());
  Term query{dScores.b, IotaOp::create(*dScores.b, type, 0).getResult()};
  Term key{dScores.b, IotaOp::create(*dScores.b, type, 1).getResult()};
  Term counts = compare(key, Predicate::LE, query);
  Value all = buildBroadcast(*dScores.b, dScores.b->getLoc(), counts, shape);
  return select({dScores.b, all}, dScores, 0);
}

static Gradients attention(AttentionOp op, Term dy) {
  ImplicitLocOpBuilder &b = *dy.b;
  Polynomial groups = shapeOf(op.getKey())[rankOf(op.getKey()) - 3];
  Term weights{&b, buildAttentionWeights(b, op)};
  int64_t last = rankOf(weights) - 1;
  Type element = elementTypeOf(weights);
  Type wide = element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
  Value dValue = buildGroupSum(b, buildDropped(b, op, weights), dy, groups);
  Term dWeights = cast({&b, buildDropped(b, op, buildGroupedDot(b, dy, op.getValue(), 1))}, wide);
  Term p = cast(weights, wide);
  Term dScores = p * (dWeights - spread(sum(dWeights * p, last), p, last));
  // Where a query attends to nothing, all scores are `fill` and their weights do not vanish.
  if (op.getFill())
    dScores = masked(op, dScores);
  Term dProducts = cast(dScores * op.getScale().convertToDouble(), element);
  Gradients out = {buildGroupedDot(b, dProducts, op.getKey(), 2),
                   buildGroupSum(b, dProducts, op.getQuery(), groups), dValue};
  if (op.getBias())
    out.push_back(cast(dScores, elementTypeOf(op.getBias())));
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
