// Gradients of softmax and the norms, in closed form: a few passes over the rows, sharing the
// forward pass's statistics (the same ops as in the decompositions, merged by CSE).
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

static Gradients softmax(SoftmaxOp op, Term dy) {
  Term y{dy.b, op.getResult()};
  int64_t dim = op.getDim();
  return {y * (dy - spread(sum(dy * y, dim), y, dim))};
}

static Gradients logSoftmax(LogSoftmaxOp op, Term dy) {
  Term y{dy.b, op.getResult()};
  int64_t dim = op.getDim();
  return {dy - exp(y) * spread(sum(dy, dim), y, dim)};
}

// The dims of x that scale has, and those it lacks.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> splitDims(Value x, Value scale) {
  int64_t outer = rankOf(x) - rankOf(scale);
  return {llvm::to_vector(llvm::seq<int64_t>(outer, rankOf(x))),
          llvm::to_vector(llvm::seq<int64_t>(0, outer))};
}

static Gradients layerNorm(LayerNormOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, scale{dy.b, op.getScale()};
  auto [rows, outer] = splitDims(x, scale);
  Normalised n = buildNormalised(*dy.b, x, rows, op.getEpsilon().convertToDouble());
  Term inverse = spread({dy.b, n.inverse}, x, rows);
  Term unit = Term{dy.b, n.centred} * inverse;
  Term g = dy * spread(scale, x, outer);
  Term dx =
      (g - spread(mean(g, rows), x, rows) - unit * spread(mean(g * unit, rows), x, rows)) * inverse;
  return {dx, sum(dy * unit, outer), sum(dy, outer)};
}

static Gradients rmsNorm(RmsNormOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, scale{dy.b, op.getScale()};
  auto [rows, outer] = splitDims(x, scale);
  Value root = buildInverseRms(*dy.b, x, rows, op.getEpsilon().convertToDouble());
  Term inverse = spread({dy.b, root}, x, rows);
  Term unit = x * inverse;
  Term g = dy * spread(scale, x, outer);
  return {(g - unit * spread(mean(g * unit, rows), x, rows)) * inverse, sum(dy * unit, outer)};
}

// The running statistics get no gradient and give none.
static Gradients batchNorm(BatchNormOp op, Term dy) {
  Term x{dy.b, op.getOperand()}, scale{dy.b, op.getScale()};
  SmallVector<int64_t> dims; // all but the channel
  Polynomial count(1);
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (dim != 1) {
      dims.push_back(dim);
      count *= shapeOf(x)[dim];
    }
  auto share = [&](Term value) {
    return value * Term{dy.b, buildSizeLike(*dy.b, value, 1, count)};
  };
  Normalised n = buildNormalised(*dy.b, x, dims, op.getEpsilon().convertToDouble());
  Term inverse{dy.b, n.inverse};
  Term unit = Term{dy.b, n.centred} * spread(inverse, x, dims);
  Term dBias = sum(dy, dims), dScale = sum(dy * unit, dims);
  Term inner = dy - spread(share(dBias), x, dims) - unit * spread(share(dScale), x, dims);
  return {inner * spread(inverse * scale, x, dims), dScale, dBias, Value(), Value()};
}

void addNormalizationRules(RuleTable &table) {
  table.add<SoftmaxOp>(softmax);
  table.add<LogSoftmaxOp>(logSoftmax);
  table.add<LayerNormOp>(layerNorm);
  table.add<RmsNormOp>(rmsNorm);
  table.add<BatchNormOp>(batchNorm);
}

} // namespace cleave::autodiff
