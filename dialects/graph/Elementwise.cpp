// Elementwise: what all pointwise ops share, and the composites' formulas. The ops' own facts are in Elementwise.td.
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

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

bool isFloat(Value scalar) { return isa<FloatType>(scalar.getType()); }

Value buildCast(OpBuilder &b, Location loc, Value scalar, Type to) {
  Type from = scalar.getType();
  if (from == to)
    return scalar;
  if (to.isInteger(1)) {
    if (isa<FloatType>(from)) {
      Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(from, 0));
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, scalar, zero);
    }
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(from, 0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, scalar, zero);
  }
  auto width = [](Type type) { return type.getIntOrFloatBitWidth(); };
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (width(to) > width(from))
      return arith::ExtFOp::create(b, loc, to, scalar);
    return arith::TruncFOp::create(b, loc, to, scalar);
  }
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, loc, to, scalar);
  if (isa<FloatType>(to)) {
    if (from.isInteger(1))
      return arith::UIToFPOp::create(b, loc, to, scalar);
    return arith::SIToFPOp::create(b, loc, to, scalar);
  }
  if (width(to) < width(from))
    return arith::TruncIOp::create(b, loc, to, scalar);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, to, scalar);
  return arith::ExtSIOp::create(b, loc, to, scalar);
}

Value buildCompare(OpBuilder &b, Location loc, Predicate predicate, Value lhs, Value rhs) {
  if (isFloat(lhs)) {
    static constexpr arith::CmpFPredicate floats[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
        arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(b, loc, floats[static_cast<int>(predicate)], lhs, rhs);
  }
  static constexpr arith::CmpIPredicate ints[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,  arith::CmpIPredicate::slt,
      arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  return arith::CmpIOp::create(b, loc, ints[static_cast<int>(predicate)], lhs, rhs);
}

bool compareScalars(Predicate predicate, double lhs, double rhs) {
  switch (predicate) {
  case Predicate::EQ:
    return lhs == rhs;
  case Predicate::NE:
    return lhs != rhs;
  case Predicate::LT:
    return lhs < rhs;
  case Predicate::LE:
    return lhs <= rhs;
  case Predicate::GT:
    return lhs > rhs;
  case Predicate::GE:
    return lhs >= rhs;
  }
  return false;
}

double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}
double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(shapeOf(adaptor.getLhs()), IntegerType::get(context, 1)));
  return success();
}

// -- composites: formulas of one element, each written twice: as plain C++ and as ops -----------------------

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
