// Gradients of reductions.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

// The elements that are the maximum (minimum) share dy evenly.
static Term ofExtreme(Term x, Term y, Term dy, ArrayRef<int64_t> dims) {
  Term isExtreme = x == spread(y, x, dims);
  Term count = sum(cast(isExtreme, elementTypeOf(x)), dims);
  return select(isExtreme, spread(dy / count, x, dims), 0);
}

// The product of the other elements: that of all over the element, unless zeros are among them. One
// zero: only it has a gradient, the product of the rest; more: none.
static Term ofProduct(Term x, Term dy, ArrayRef<int64_t> dims) {
  Term isZero = x == 0;
  Term zeros = sum(cast(isZero, elementTypeOf(x)), dims);
  Term rest = dy * reduce(Reduction::Prod, select(isZero, x.splat(1), x), dims);
  Term ofZero = spread(select(zeros == 1, rest, 0), x, dims);
  Term ofOthers = spread(select(zeros == 0, rest, 0), x, dims) / x;
  return select(isZero, ofZero, ofOthers);
}

static Gradients reduceRule(ReduceOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, y{dy.b, op.getResult()};
  switch (op.getKind()) {
  case Reduction::Sum:
    return {spread(dy, x, op.getDims())};
  case Reduction::Max:
  case Reduction::Min:
    return {ofExtreme(x, y, dy, op.getDims())};
  case Reduction::Prod:
    return {ofProduct(x, dy, op.getDims())};
  }
  return {};
}

void addReductionRules(RuleTable &table) { table.add<ReduceOp>(reduceRule); }

} // namespace cleave::autodiff
