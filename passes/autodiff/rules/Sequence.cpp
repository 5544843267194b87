// Gradients of scans and sorting.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

static Term scan(Reduction kind, Term x, int64_t dim) {
  return {x.b, ScanOp::create(*x.b, kind, x, dim).getResult()};
}

// From the last element to each.
static Term sumBackwards(Term x, int64_t dim) {
  Term reversed{x.b, ReverseOp::create(*x.b, x, dim).getResult()};
  return {x.b, ReverseOp::create(*x.b, scan(Reduction::Sum, reversed, dim), dim).getResult()};
}

static Term positions(Term like, int64_t dim) {
  Type type = tensorOf(shapeOf(like), like.b->getI64Type());
  return {like.b, IotaOp::create(*like.b, type, dim).getResult()};
}

// Every element gets dy from where it was the last record.
static Term ofExtreme(Term x, Term y, Term dy, int64_t dim) {
  Term position = positions(x, dim);
  Term record = scan(Reduction::Max, select(x == y, position, -1), dim);
  return {dy.b, buildScatterAlong(*dy.b, Reduction::Sum, dy, record, dim, shapeOf(x)[dim])};
}

// The products from each element on, over the element; but at the first zero the products without
// it, and behind it nothing.
static Term ofProduct(Term x, Term y, Term dy, int64_t dim) {
  Term isZero = x == 0;
  Term zeros = scan(Reduction::Sum, cast(isZero, elementTypeOf(x)), dim);
  Term isFirst = select(isZero, cast(zeros == 1, elementTypeOf(x)), 0) == 1;
  Term without = scan(Reduction::Prod, select(isFirst, x.splat(1), x), dim);
  Term ofFirst = select(isFirst, sumBackwards(dy * without, dim), 0);
  Term ofOthers = sumBackwards(dy * y, dim) / select(isZero, x.splat(1), x);
  return select(zeros == 0, ofOthers, ofFirst);
}

static Gradients scanRule(ScanOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, y{dy.b, op.getResult()};
  switch (op.getKind()) {
  case Reduction::Sum:
    return {sumBackwards(dy, op.getDim())};
  case Reduction::Max:
  case Reduction::Min:
    return {ofExtreme(x, y, dy, op.getDim())};
  case Reduction::Prod:
    return {ofProduct(x, y, dy, op.getDim())};
  }
  return {};
}

void addSequenceRules(RuleTable &table) {
  table.add<ScanOp>(scanRule);
  table.add<SortOp>([](SortOp op, Term dy) -> Gradients {
    auto dim = static_cast<int64_t>(op.getDim());
    return {buildScatterAlong(*dy.b, Reduction::Sum, dy, op.getIndices(), dim, shapeOf(dy)[dim])};
  });
}

} // namespace cleave::autodiff
