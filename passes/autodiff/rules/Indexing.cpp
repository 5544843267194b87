// Gradients of indexing ops: gather and scatter are each other's.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

static Term gather(ScatterOp op, Term x) {
  return {x.b, GatherOp::create(*x.b, x, op.getIndices(), op.getDim(), op.getBatch()).getResult()};
}

static Term scatter(ScatterOp op, Reduction kind, Term x) {
  Type type = tensorOf(shapeOf(op.getResult()), elementTypeOf(x));
  return {x.b, ScatterOp::create(*x.b, type, kind, x, op.getIndices(), op.getDim(), op.getBatch())};
}

// The updates that are the maximum (minimum) share dy evenly.
static Term ofExtreme(ScatterOp op, Term x, Term y, Term dy) {
  Term isExtreme = cast(x == gather(op, y), elementTypeOf(x));
  Term count = gather(op, scatter(op, Reduction::Sum, isExtreme));
  return select(count > 0, isExtreme * gather(op, dy) / count, 0);
}

// The product of the other updates; see the product in Reduction.cpp.
static Term ofProduct(ScatterOp op, Term x, Term dy) {
  Term isZero = x == 0;
  Term zeros = gather(op, scatter(op, Reduction::Sum, cast(isZero, elementTypeOf(x))));
  Term nonzero = select(isZero, x.splat(1), x);
  Term rest = gather(op, dy * scatter(op, Reduction::Prod, nonzero));
  return select(isZero, select(zeros == 1, rest, 0), select(zeros == 0, rest, 0) / nonzero);
}

static Gradients scatterRule(ScatterOp op, Term dy) {
  Term x{dy.b, op.getUpdates()}, y{dy.b, op.getResult()};
  switch (op.getKind()) {
  case Reduction::Sum:
    return {gather(op, dy), Value()};
  case Reduction::Max:
  case Reduction::Min:
    return {ofExtreme(op, x, y, dy), Value()};
  case Reduction::Prod:
    return {ofProduct(op, x, dy), Value()};
  }
  return {};
}

void addIndexingRules(RuleTable &table) {
  table.add<GatherOp>([](GatherOp op, Term dy) -> Gradients {
    return {ScatterOp::create(*dy.b, op.getOperand().getType(), Reduction::Sum, dy, op.getIndices(),
                              op.getDim(), op.getBatch()),
            Value()};
  });
  table.add<ScatterOp>(scatterRule);
}

} // namespace cleave::autodiff
