// Elementwise: factor rule, FLOPs and evaluation of pointwise ops, and the formulas of the
// composites. Elementwise.td has the properties of the single ops, Scalar.cpp the arithmetic on
// elements.
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"
#include "dialects/graph/Random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

FactorRule pointwiseRule(Operation *op) {
  Shape shape = shapeOf(op->getResult(0));
  FactorRule rule;
  FactorRule::Dims dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    rule.factors.push_back({shape[i]});
    dims.push_back({static_cast<int>(i)});
  }
  rule.operands.assign(op->getNumOperands(), dims);
  rule.results.assign(op->getNumResults(), dims);
  if (auto pointwise = dyn_cast<PointwiseInterface>(op))
    rule.linear = pointwise.isLinear();
  return rule;
}

Polynomial pointwiseFlops(Operation *op) {
  return elementCount(op->getResult(0).getType()) *
         Polynomial(cast<PointwiseInterface>(op).getFlopsPerElement());
}

SmallVector<Tensor> evaluatePointwise(Operation *op, ArrayRef<Tensor> operands) {
  auto pointwise = cast<PointwiseInterface>(op);
  Tensor result(toElementType(elementTypeOf(op->getResult(0))), operands[0].shape);
  SmallVector<double> scalars(operands.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k)
      scalars[k] = operands[k].values[i];
    result.set(i, pointwise.evaluateScalar(scalars));
  }
  return {result};
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(verifyParsed(location, adaptor.getLhs())))
    return failure();
  types.push_back(tensorOf(shapeOf(adaptor.getLhs()), IntegerType::get(context, 1)));
  return success();
}

// -- dropout --------------------------------------------------------------------------------------

double DropoutOp::getDropRate() { return getRate().convertToDouble(); }
void DropoutOp::getEffects(MemoryEffectList &effects) { addDropoutEffects(*this, effects); }

FactorRule DropoutOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  if (!getSeed())
    return rule;
  rule.operands.back().clear();
  for (Factor &factor : rule.factors) // random numbers follow from positions in the whole tensor
    factor.kind = FactorKind::Replicated;
  return rule;
}

Polynomial DropoutOp::getFlops() { return elementCount(getType()) * Polynomial(2); }

SmallVector<Tensor> DropoutOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor result = operands[0];
  for (int64_t i = 0; getSeed() && i < result.size(); ++i)
    result.set(i, result.values[i] * dropFactor(getDropRate(), operands[1].values[0], i));
  return {result};
}

SmallVector<Value> DropoutOp::decompose(OpBuilder &b) {
  if (!getSeed())
    return {getOperand()};
  return {buildDropped(b, getLoc(), getOperand(), getSeed(), getDropRate())};
}

// -- composites: the formula of one element, as C++ and as ops ------------------------------------

static SmallVector<Tensor> map(const Tensor &operand, llvm::function_ref<double(double)> formula) {
  Tensor result(operand.type, operand.shape);
  for (int64_t i = 0; i < operand.size(); ++i)
    result.set(i, formula(operand.values[i]));
  return {result};
}

#define CLEAVE_UNARY_COMPOSITE(OP, FLOPS)                                                          \
  FactorRule OP::getFactorRule() { return pointwiseRule(*this); }                                  \
  Polynomial OP::getFlops() { return elementCount(getType()) * Polynomial(FLOPS); }

CLEAVE_UNARY_COMPOSITE(ReluOp, 1)
CLEAVE_UNARY_COMPOSITE(SigmoidOp, 4)
CLEAVE_UNARY_COMPOSITE(SiluOp, 5)
CLEAVE_UNARY_COMPOSITE(GeluOp, 8)
CLEAVE_UNARY_COMPOSITE(QuickGeluOp, 6)

SmallVector<Tensor> ReluOp::evaluate(ArrayRef<Tensor> operands) {
  return map(operands[0], [](double x) { return maximum(x, 0); });
}
SmallVector<Value> ReluOp::decompose(OpBuilder &b) {
  return {MaxOp::create(b, getLoc(), getOperand(), buildSplatLike(b, getOperand(), 0))};
}

SmallVector<Tensor> SigmoidOp::evaluate(ArrayRef<Tensor> operands) {
  return map(operands[0], [](double x) { return 1 / (1 + std::exp(-x)); });
}
SmallVector<Value> SigmoidOp::decompose(OpBuilder &b) {
  Value one = buildSplatLike(b, getOperand(), 1);
  Value exp = ExpOp::create(b, getLoc(), NegOp::create(b, getLoc(), getOperand()));
  return {DivOp::create(b, getLoc(), one, AddOp::create(b, getLoc(), one, exp))};
}

SmallVector<Tensor> SiluOp::evaluate(ArrayRef<Tensor> operands) {
  return map(operands[0], [](double x) { return x / (1 + std::exp(-x)); });
}
SmallVector<Value> SiluOp::decompose(OpBuilder &b) {
  return {MulOp::create(b, getLoc(), getOperand(), SigmoidOp::create(b, getLoc(), getOperand()))};
}

static constexpr double kQuickGelu = 1.702;

SmallVector<Tensor> QuickGeluOp::evaluate(ArrayRef<Tensor> operands) {
  return map(operands[0], [](double x) { return x / (1 + std::exp(-kQuickGelu * x)); });
}
SmallVector<Value> QuickGeluOp::decompose(OpBuilder &b) {
  Value steep =
      MulOp::create(b, getLoc(), getOperand(), buildSplatLike(b, getOperand(), kQuickGelu));
  return {MulOp::create(b, getLoc(), getOperand(), SigmoidOp::create(b, getLoc(), steep))};
}

static constexpr double kGeluCubic = 0.044715;
static const double kSqrtTwoOverPi = std::sqrt(2 / M_PI);

SmallVector<Tensor> GeluOp::evaluate(ArrayRef<Tensor> operands) {
  if (getTanh())
    return map(operands[0], [](double x) {
      return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + kGeluCubic * x * x * x)));
    });
  return map(operands[0], [](double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); });
}
SmallVector<Value> GeluOp::decompose(OpBuilder &b) {
  Value x = getOperand();
  Location loc = getLoc();
  auto constant = [&](double value) { return buildSplatLike(b, x, value); };
  Value bell;
  if (getTanh()) {
    Value cube = MulOp::create(b, loc, x, MulOp::create(b, loc, x, x));
    Value sum = AddOp::create(b, loc, x, MulOp::create(b, loc, cube, constant(kGeluCubic)));
    bell = TanhOp::create(b, loc, MulOp::create(b, loc, sum, constant(kSqrtTwoOverPi)));
  } else {
    bell = ErfOp::create(b, loc, MulOp::create(b, loc, x, constant(M_SQRT1_2)));
  }
  Value weight = MulOp::create(b, loc, AddOp::create(b, loc, bell, constant(1)), constant(0.5));
  return {MulOp::create(b, loc, x, weight)};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Elementwise.cpp.inc"

void cleave::graph::GraphDialect::addElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Elementwise.cpp.inc"
      >();
}
