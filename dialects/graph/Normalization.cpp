// Normalization: every composite as plain loops (evaluation) and as simpler ops (decomposition).
#include "dialects/graph/Lines.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

// -- rules ----------------------------------------------------------------------------------------

// The rule of an op whose result has the dims of its first operand. Dims in `whole` are not split;
// the other operands have the dims `parameterDims`.
static FactorRule normRule(Operation *op, llvm::function_ref<bool(int64_t)> whole,
                           ArrayRef<int64_t> parameterDims) {
  FactorRule rule;
  FactorRule::Dims dims, parameter;
  for (auto [d, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    rule.factors.push_back({size, whole(d) ? FactorKind::Replicated : FactorKind::PassThrough});
    dims.push_back({static_cast<int>(d)});
  }
  for (int64_t d : parameterDims)
    parameter.push_back({static_cast<int>(d)});
  rule.operands.assign(op->getNumOperands(), parameter);
  rule.operands[0] = dims;
  rule.results.assign(op->getNumResults(), parameter);
  rule.results[0] = dims;
  return rule;
}

static SmallVector<int64_t> lastDims(Value operand, Value scale) {
  SmallVector<int64_t> dims;
  for (int64_t d = rankOf(operand) - rankOf(scale); d < rankOf(operand); ++d)
    dims.push_back(d);
  return dims;
}

static SmallVector<int64_t> allButChannel(int64_t rank) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != 1)
      dims.push_back(d);
  return dims;
}

FactorRule SoftmaxOp::getFactorRule() {
  return normRule(*this, [&](int64_t d) { return d == static_cast<int64_t>(getDim()); }, {});
}
FactorRule LogSoftmaxOp::getFactorRule() {
  return normRule(*this, [&](int64_t d) { return d == static_cast<int64_t>(getDim()); }, {});
}
FactorRule LayerNormOp::getFactorRule() {
  SmallVector<int64_t> dims = lastDims(getOperand(), getScale());
  return normRule(*this, [&](int64_t d) { return llvm::is_contained(dims, d); }, dims);
}
FactorRule RmsNormOp::getFactorRule() {
  SmallVector<int64_t> dims = lastDims(getOperand(), getScale());
  return normRule(*this, [&](int64_t d) { return llvm::is_contained(dims, d); }, dims);
}
FactorRule BatchNormOp::getFactorRule() {
  return normRule(*this, [](int64_t d) { return d != 1; }, {1});
}

Polynomial SoftmaxOp::getFlops() { return elementCount(getType()) * Polynomial(5); }
Polynomial LogSoftmaxOp::getFlops() { return elementCount(getType()) * Polynomial(5); }
Polynomial LayerNormOp::getFlops() { return elementCount(getType()) * Polynomial(8); }
Polynomial RmsNormOp::getFlops() { return elementCount(getType()) * Polynomial(5); }
Polynomial BatchNormOp::getFlops() { return elementCount(getOperand().getType()) * Polynomial(8); }

// -- plain loops ----------------------------------------------------------------------------------

// Calls visit(positions) for every row of `length` elements along the last dims, with the row-major
// positions of its elements.
static void forEachRow(int64_t size, int64_t length,
                       llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> row(length);
  for (int64_t begin = 0; begin < size; begin += length) {
    for (int64_t i = 0; i < length; ++i)
      row[i] = begin + i;
    visit(row);
  }
}

static double logSumExp(const Tensor &tensor, ArrayRef<int64_t> line) {
  if (line.empty())
    return 0;
  double largest = tensor.values[line[0]], sum = 0;
  for (int64_t i : line)
    largest = std::max(largest, tensor.values[i]);
  for (int64_t i : line)
    sum += std::exp(tensor.values[i] - largest);
  return largest + std::log(sum);
}

SmallVector<Tensor> SoftmaxOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor result(operands[0].type, operands[0].shape);
  forEachLine(operands[0], getDim(), [&](ArrayRef<int64_t> line) {
    double total = logSumExp(operands[0], line);
    for (int64_t i : line)
      result.set(i, std::exp(operands[0].values[i] - total));
  });
  return {result};
}

SmallVector<Tensor> LogSoftmaxOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor result(operands[0].type, operands[0].shape);
  forEachLine(operands[0], getDim(), [&](ArrayRef<int64_t> line) {
    double total = logSumExp(operands[0], line);
    for (int64_t i : line)
      result.set(i, operands[0].values[i] - total);
  });
  return {result};
}

namespace {
struct Moments {
  double mean = 0, variance = 0; // biased
};
} // namespace

static Moments momentsOf(const Tensor &tensor, ArrayRef<int64_t> positions) {
  Moments moments;
  double count = static_cast<double>(positions.size());
  for (int64_t i : positions)
    moments.mean += tensor.values[i] / count;
  for (int64_t i : positions)
    moments.variance += std::pow(tensor.values[i] - moments.mean, 2) / count;
  return moments;
}

SmallVector<Tensor> LayerNormOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &scale = operands[1], &bias = operands[2];
  Tensor result(x.type, x.shape);
  double epsilon = getEpsilon().convertToDouble();
  forEachRow(x.size(), scale.size(), [&](ArrayRef<int64_t> row) {
    Moments moments = momentsOf(x, row);
    for (auto [k, i] : llvm::enumerate(row))
      result.set(i, (x.values[i] - moments.mean) / std::sqrt(moments.variance + epsilon) *
                            scale.values[k] +
                        bias.values[k]);
  });
  return {result};
}

SmallVector<Tensor> RmsNormOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &scale = operands[1];
  Tensor result(x.type, x.shape);
  double epsilon = getEpsilon().convertToDouble();
  forEachRow(x.size(), scale.size(), [&](ArrayRef<int64_t> row) {
    double square = 0;
    for (int64_t i : row)
      square += x.values[i] * x.values[i] / static_cast<double>(row.size());
    for (auto [k, i] : llvm::enumerate(row))
      result.set(i, x.values[i] / std::sqrt(square + epsilon) * scale.values[k]);
  });
  return {result};
}

SmallVector<Tensor> BatchNormOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &scale = operands[1];
  Tensor result(x.type, x.shape), mean = operands[3], variance = operands[4];
  double epsilon = getEpsilon().convertToDouble(), momentum = getMomentum().convertToDouble();
  std::vector<SmallVector<int64_t>> channels(scale.size());
  int64_t position = 0;
  forEachIndex(x.shape, [&](const auto &index) { channels[index[1]].push_back(position++); });
  for (auto [c, positions] : llvm::enumerate(channels)) {
    Moments moments = momentsOf(x, positions);
    for (int64_t i : positions)
      result.set(i, (x.values[i] - moments.mean) / std::sqrt(moments.variance + epsilon) *
                            scale.values[c] +
                        operands[2].values[c]);
    double count = static_cast<double>(positions.size());
    double unbiased = moments.variance * count / std::max(count - 1, 1.0);
    mean.set(c, (1 - momentum) * mean.values[c] + momentum * moments.mean);
    variance.set(c, (1 - momentum) * variance.values[c] + momentum * unbiased);
  }
  return {result, mean, variance};
}

// -- simpler ops ----------------------------------------------------------------------------------

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  int64_t dim = getDim();
  Value largest = buildBroadcastOver(b, buildReduce(b, Reduction::Max, x, dim), x, dim);
  Value exp = ExpOp::create(b, getLoc(), SubOp::create(b, getLoc(), x, largest));
  Value sum = buildBroadcastOver(b, buildReduce(b, Reduction::Sum, exp, dim), x, dim);
  return {DivOp::create(b, getLoc(), exp, sum)};
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  int64_t dim = getDim();
  Value largest = buildBroadcastOver(b, buildReduce(b, Reduction::Max, x, dim), x, dim);
  Value shifted = SubOp::create(b, getLoc(), x, largest);
  Value sum = buildReduce(b, Reduction::Sum, ExpOp::create(b, getLoc(), shifted), dim);
  Value total = buildBroadcastOver(b, LogOp::create(b, getLoc(), sum), x, dim);
  return {SubOp::create(b, getLoc(), shifted, total)};
}

Normalised buildNormalised(OpBuilder &b, Value x, ArrayRef<int64_t> dims, double epsilon) {
  Location loc = x.getLoc();
  Normalised n;
  n.mean = buildMean(b, x, dims);
  n.centred = SubOp::create(b, loc, x, buildBroadcastOver(b, n.mean, x, dims));
  n.variance = buildMean(b, MulOp::create(b, loc, n.centred, n.centred), dims);
  Value shifted = AddOp::create(b, loc, n.variance, buildSplatLike(b, n.variance, epsilon));
  n.inverse = RsqrtOp::create(b, loc, shifted);
  return n;
}

Value buildInverseRms(OpBuilder &b, Value x, ArrayRef<int64_t> dims, double epsilon) {
  Location loc = x.getLoc();
  Value square = buildMean(b, MulOp::create(b, loc, x, x), dims);
  return RsqrtOp::create(b, loc, AddOp::create(b, loc, square, buildSplatLike(b, square, epsilon)));
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  SmallVector<int64_t> dims = lastDims(x, getScale());
  Normalised n = buildNormalised(b, x, dims, getEpsilon().convertToDouble());
  Value unit = MulOp::create(b, getLoc(), n.centred, buildBroadcastOver(b, n.inverse, x, dims));
  Value scaled =
      MulOp::create(b, getLoc(), unit, buildBroadcast(b, getLoc(), getScale(), shapeOf(x)));
  return {AddOp::create(b, getLoc(), scaled, buildBroadcast(b, getLoc(), getBias(), shapeOf(x)))};
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  Location loc = getLoc();
  SmallVector<int64_t> dims = lastDims(x, getScale());
  Value root = buildInverseRms(b, x, dims, getEpsilon().convertToDouble());
  Value inverse = buildBroadcastOver(b, root, x, dims);
  Value unit = MulOp::create(b, loc, x, inverse);
  return {MulOp::create(b, loc, unit, buildBroadcast(b, loc, getScale(), shapeOf(x)))};
}

// (1 - momentum) running + momentum value
static Value buildMoved(OpBuilder &b, Value running, Value value, double momentum) {
  Location loc = running.getLoc();
  Value kept = MulOp::create(b, loc, running, buildSplatLike(b, running, 1 - momentum));
  return AddOp::create(b, loc, kept,
                       MulOp::create(b, loc, value, buildSplatLike(b, value, momentum)));
}

SmallVector<Value> BatchNormOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  Location loc = getLoc();
  SmallVector<int64_t> dims = allButChannel(rankOf(x));
  Normalised n = buildNormalised(b, x, dims, getEpsilon().convertToDouble());
  Value factor = MulOp::create(b, loc, n.inverse, getScale());
  Value scaled = MulOp::create(b, loc, n.centred, buildBroadcastOver(b, factor, x, dims));
  Value result = AddOp::create(b, loc, scaled, buildBroadcastOver(b, getBias(), x, dims));
  Polynomial count(1);
  for (int64_t d : dims)
    count *= shapeOf(x)[d];
  Value correction = buildSizeLike(b, n.variance, count, count - 1);
  Value unbiased = MulOp::create(b, loc, n.variance, correction);
  double momentum = getMomentum().convertToDouble();
  return {result, buildMoved(b, getRunningMean(), n.mean, momentum),
          buildMoved(b, getRunningVar(), unbiased, momentum)};
}

// -- verifiers ------------------------------------------------------------------------------------

// Verifies that the other operands have the element type of `operand`.
static LogicalResult verifyElements(Operation *op, Value operand, ArrayRef<Value> parameters) {
  Type expected = elementTypeOf(operand);
  for (Value parameter : parameters)
    if (elementTypeOf(parameter) != expected) {
      auto diag = op->emitOpError()
                  << "has a parameter of " << elementTypeOf(parameter) << " elements, expected "
                  << expected << ", the element type of the operand";
      diag.attachNote(operand.getLoc()) << "the operand has type " << operand.getType();
      diag.attachNote(parameter.getLoc()) << "the parameter has type " << parameter.getType();
      return diag;
    }
  return success();
}

static LogicalResult verifyLast(Operation *op, Value operand, Value scale, Value bias) {
  Shape x = shapeOf(operand), s = shapeOf(scale);
  bool fits = s.size() <= x.size() && std::equal(s.rbegin(), s.rend(), x.rbegin());
  if (!fits || shapeOf(bias) != s) {
    auto diag = op->emitOpError() << "needs a scale and a bias of the operand's last dims";
    diag.attachNote(operand.getLoc()) << "the operand has type " << operand.getType();
    diag.attachNote(scale.getLoc()) << "the scale has type " << scale.getType();
    if (bias != scale)
      diag.attachNote(bias.getLoc()) << "the bias has type " << bias.getType();
    return diag;
  }
  return verifyElements(op, operand, {scale, bias});
}
LogicalResult SoftmaxOp::verify() { return verifyDim(*this, getDim()); }
LogicalResult LogSoftmaxOp::verify() { return verifyDim(*this, getDim()); }
LogicalResult LayerNormOp::verify() {
  return verifyLast(*this, getOperand(), getScale(), getBias());
}
LogicalResult RmsNormOp::verify() {
  return verifyLast(*this, getOperand(), getScale(), getScale());
}
LogicalResult BatchNormOp::verify() {
  if (rankOf(getOperand()) < 2 || shapeOf(getScale()) != Shape{shapeOf(getOperand())[1]}) {
    auto diag = emitOpError() << "needs one scale per channel (dim 1)";
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
    diag.attachNote(getScale().getLoc()) << "the scale has type " << getScale().getType();
    return diag;
  }
  return verifyElements(*this, getOperand(), {getScale()});
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Normalization.cpp.inc"

void cleave::graph::GraphDialect::addNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Normalization.cpp.inc"
      >();
}
