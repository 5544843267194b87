// Contraction: maximum and average pooling and their gradient.
#include "dialects/graph/Graph.h"
#include "dialects/graph/Window.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

template <typename Op> static Window windowOf(Op op) {
  return {op.getKernel().vec(), op.getStrides().vec(), op.getDilations().vec(),
          op.getPadsLow().vec(), op.getPadsHigh().vec()};
}

// The type of graph.pool of `input` with the window of `op`.
template <typename Op> static Type pooledType(Op op, Value input) {
  Shape data = shapeOf(input), result(data.begin(), data.begin() + 2);
  llvm::append_range(result, windowOf(op).outputOf(ArrayRef(data).drop_front(2)));
  return tensorOf(result, elementTypeOf(input));
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(pooledType(adaptor, adaptor.getInput()));
  return success();
}

template <typename Op> static LogicalResult verifyPool(Op op) {
  Value input = op.getInput();
  if (rankOf(input) < 3) {
    auto diag = op.emitOpError() << "needs an input of rank 3 or more, found rank "
                                 << rankOf(input);
    diag.attachNote(input.getLoc()) << "the input has type " << input.getType();
    return diag;
  }
  return verifyWindow(op, windowOf(op), input);
}

LogicalResult PoolOp::verify() { return verifyPool(*this); }

LogicalResult PoolGradOp::verify() {
  if (failed(verifyPool(*this)))
    return failure();
  Type expected = pooledType(*this, getInput());
  if (getGrad().getType() != expected) {
    auto diag = emitOpError() << "needs a gradient of type " << expected
                              << ", the type of the result of its graph.pool, found "
                              << getGrad().getType();
    diag.attachNote(getGrad().getLoc()) << "the gradient comes from here";
    return diag;
  }
  if (getType() != getInput().getType()) {
    auto diag = emitOpError() << "has a result of type " << getType()
                              << ", expected the type of its input, " << getInput().getType();
    diag.attachNote(getInput().getLoc()) << "the input comes from here";
    return diag;
  }
  return success();
}

// Images and channels are independent. Spatial dims are not split because windows overlap.
static FactorRule poolRule(const Shape &input, const Shape &output, bool gradient) {
  FactorRule rule;
  auto factor = [&](const Polynomial &size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<int>(rule.factors.size()) - 1;
  };
  FactorRule::Dims in, out;
  for (size_t d = 0; d < 2; ++d) {
    in.push_back({factor(input[d], FactorKind::PassThrough)});
    out.push_back(in.back());
  }
  for (size_t d = 2; d < input.size(); ++d) {
    in.push_back({factor(input[d], FactorKind::Replicated)});
    out.push_back({factor(output[d], FactorKind::Replicated)});
  }
  rule.operands = {in};
  if (gradient)
    rule.operands.insert(rule.operands.begin(), out);
  rule.results = {gradient ? in : out};
  return rule;
}

FactorRule PoolOp::getFactorRule() {
  return poolRule(shapeOf(getInput()), shapeOf(getResult()), false);
}
FactorRule PoolGradOp::getFactorRule() {
  return poolRule(shapeOf(getInput()), shapeOf(getGrad()), true);
}

static Polynomial poolFlops(ArrayRef<int64_t> kernel, Type out) {
  Polynomial flops = elementCount(out);
  for (int64_t size : kernel)
    flops *= Polynomial(size);
  return flops;
}
Polynomial PoolOp::getFlops() { return poolFlops(getKernel(), getType()); }
Polynomial PoolGradOp::getFlops() { return poolFlops(getKernel(), getGrad().getType()); }

namespace {
// One output element: the input elements in its window, and the divisor of an average.
struct Cell {
  std::vector<int64_t> inside; // positions in the input
  double divisor = 0;
};
} // namespace

template <typename Op>
static Cell cellAt(Op op, const Window &window, ArrayRef<int64_t> at, const Tensor &input) {
  Cell cell;
  std::vector<int64_t> strides = input.strides();
  window.visitInside(at.drop_front(2), ArrayRef(input.shape).drop_front(2),
                     [&](const auto &, const auto &x) {
                       std::vector<int64_t> index(at.begin(), at.begin() + 2);
                       llvm::append_range(index, x);
                       cell.inside.push_back(linearIndex(index, strides));
                     });
  cell.divisor = static_cast<double>(cell.inside.size());
  if (!op.getCountPadding())
    return cell;
  cell.divisor = 1;
  for (size_t d = 0; d < window.rank(); ++d) {
    int64_t count = 0;
    for (int64_t k = 0; k < window.kernel[d]; ++k)
      count += window.inputAt(d, at[d + 2], k) < input.shape[d + 2] + window.padsHigh[d];
    cell.divisor *= count;
  }
  return cell;
}

// The first largest element, or the last NaN.
static int64_t largest(const Cell &cell, const Tensor &input) {
  int64_t best = cell.inside.front();
  for (int64_t position : cell.inside)
    if (input.values[position] > input.values[best] || std::isnan(input.values[position]))
      best = position;
  return best;
}

SmallVector<Tensor> PoolOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  Window window = windowOf(*this);
  std::vector<int64_t> shape(input.shape.begin(), input.shape.begin() + 2);
  Shape spatial(input.shape.begin() + 2, input.shape.end());
  for (const Polynomial &size : window.outputOf(spatial))
    shape.push_back(*size.constant());
  Tensor out(input.type, shape);
  int64_t i = 0;
  forEachIndex(shape, [&](const std::vector<int64_t> &at) {
    Cell cell = cellAt(*this, window, at, input);
    double value = 0;
    if (getKind() == PoolKind::Max && !cell.inside.empty())
      value = input.values[largest(cell, input)];
    else if (getKind() == PoolKind::Average)
      for (int64_t position : cell.inside)
        value += input.values[position] / cell.divisor;
    out.set(i++, value);
  });
  return {out};
}

SmallVector<Tensor> PoolGradOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &grad = operands[0], &input = operands[1];
  Window window = windowOf(*this);
  Tensor result(input.type, input.shape);
  int64_t i = 0;
  forEachIndex(grad.shape, [&](const std::vector<int64_t> &at) {
    Cell cell = cellAt(*this, window, at, input);
    double value = grad.values[i++];
    if (getKind() == PoolKind::Max && !cell.inside.empty())
      result.values[largest(cell, input)] += value;
    else if (getKind() == PoolKind::Average)
      for (int64_t position : cell.inside)
        result.values[position] += value / cell.divisor;
  });
  for (i = 0; i < result.size(); ++i)
    result.set(i, result.values[i]);
  return {result};
}

} // namespace cleave::graph
