// Movement: reshape. Its factors are the common refinement of both shapes, found from the last dim
// to the first.
#include "dialects/graph/Graph.h"
#include "dialects/graph/Movement.h"

using namespace mlir;

namespace cleave::graph {

namespace {
// One side of the reshape while its dims are divided into factors, from minor to major.
struct Side {
  Shape shape;
  FactorRule::Dims dims;
  int64_t dim;          // the dim being divided
  Polynomial remaining; // its size divided by the factors found so far

  explicit Side(Shape s) : shape(std::move(s)), dims(shape.size()), dim(shape.size()) { next(); }
  bool done() const { return dim < 0; }
  void next() {
    --dim;
    if (dim >= 0)
      remaining = shape[dim];
  }
  // Adds a factor to the current dim, major to those found before.
  void take(int factor, const Polynomial &size) {
    dims[dim].insert(dims[dim].begin(), factor);
    remaining = remaining == size ? Polynomial(1) : *remaining.dividedBy(size);
    if (remaining == Polynomial(1))
      next();
  }
};
} // namespace

// Skips dims of size 1; each gets a factor of its own.
static void skipOnes(Side &side, FactorRule &rule) {
  while (!side.done() && side.remaining == Polynomial(1) && side.dims[side.dim].empty()) {
    side.dims[side.dim] = {static_cast<int>(rule.factors.size())};
    rule.factors.push_back({Polynomial(1)});
    side.next();
  }
}

// There is no common factor: the remaining dims of both sides, up to where their products agree,
// are not split.
static void takeWhole(Side &in, Side &out, FactorRule &rule) {
  for (Side *side : {&in, &out})
    while (!side->done()) {
      Polynomial size = side->remaining;
      rule.factors.push_back({size, FactorKind::Replicated});
      side->take(static_cast<int>(rule.factors.size()) - 1, size);
    }
}

FactorRule ReshapeOp::getFactorRule() {
  FactorRule rule;
  rule.linear = true;
  Side in(shapeOf(getOperand())), out(shapeOf(getResult()));
  bool isEmpty = elementCount(getOperand().getType()) == Polynomial(0);
  if (isEmpty) // with no elements, any dims of both sides match
    takeWhole(in, out, rule);
  while (!isEmpty) {
    skipOnes(in, rule);
    skipOnes(out, rule);
    if (in.done() || out.done())
      break;
    Polynomial size = in.remaining;
    if (!out.remaining.dividedBy(size)) {
      size = out.remaining;
      if (!in.remaining.dividedBy(size)) {
        takeWhole(in, out, rule);
        break;
      }
    }
    int factor = static_cast<int>(rule.factors.size());
    rule.factors.push_back({size});
    in.take(factor, size);
    out.take(factor, size);
  }
  rule.operands = {in.dims};
  rule.results = {out.dims};
  return rule;
}

Polynomial ReshapeOp::getFlops() { return 0; }

LogicalResult ReshapeOp::verify() {
  Polynomial in = elementCount(getOperand().getType()), out = elementCount(getType());
  if (in != out) {
    auto diag = emitOpError() << "makes " << out.str() << " elements of " << in.str();
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
    return diag;
  }
  return verifySameElement(*this, getOperand(), getResult());
}

SmallVector<Tensor> ReshapeOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor result = operands[0];
  result.shape = staticShapeOf(getType());
  return {result};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

} // namespace cleave::graph
