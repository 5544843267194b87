// Elementwise operators: arithmetic with PyTorch's promotion of types, comparisons, logic,
// functions of one number.
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Root.h"

#include <cmath>
#include <limits>

namespace cleave::aten {
namespace {

using namespace graph;
using emit::Emitter;

// -- two operands ---------------------------------------------------------------------------------
struct Pair {
  Array lhs, rhs;
};

// Both operands in one type and shape.
Pair pairOf(OpCall &c, const IValue &lhs, const IValue &rhs, ElementType type) {
  Pair out{c.readAs(lhs, type), c.readAs(rhs, type)};
  c.e.broadcastTogether(out.lhs, out.rhs);
  return out;
}

Pair operands(OpCall &c) {
  return pairOf(c, c["self"], c["other"], promotedType(c, {c["self"], c["other"]}));
}

Pair floatOperands(OpCall &c) {
  return pairOf(c, c["self"], c["other"], c.floatType(promotedType(c, {c["self"], c["other"]})));
}

bool isBool(Array x) { return typeOf(x) == ElementType::Bool; }

// Times alpha.
Array scaled(OpCall &c, Array other) {
  double alpha = c.number("alpha");
  return alpha == 1 ? other : c.e.mul(other, alpha);
}

Results add(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  return isBool(lhs) ? c.e.binary<OrOp>(lhs, rhs) : c.e.add(lhs, scaled(c, rhs));
}
Results sub(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  return c.e.sub(lhs, scaled(c, rhs));
}
Results reverseSub(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  return c.e.sub(rhs, scaled(c, lhs));
}
Results mul(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  return isBool(lhs) ? c.e.binary<AndOp>(lhs, rhs) : c.e.mul(lhs, rhs);
}

Results div(OpCall &c) {
  if (!c.has("rounding_mode")) {
    auto [lhs, rhs] = floatOperands(c);
    return c.e.div(lhs, rhs);
  }
  auto [lhs, rhs] = operands(c);
  const std::string &mode = c.string("rounding_mode");
  if (mode == "floor")
    return emit::floorDivide(c.e, lhs, rhs);
  if (mode != "trunc")
    fail("rounds by '", mode, "', expected floor or trunc");
  return emit::truncatedDivide(c.e, lhs, rhs);
}

using Binary = Array (*)(const Emitter &, Array, Array);
template <Binary function> Results binary(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  return function(c.e, lhs, rhs);
}
template <Binary function> Results floatBinary(OpCall &c) {
  auto [lhs, rhs] = floatOperands(c);
  return function(c.e, lhs, rhs);
}
Array maximum(const Emitter &e, Array x, Array y) { return e.max(x, y); }
Array minimum(const Emitter &e, Array x, Array y) { return e.min(x, y); }

// The number if one operand is NaN.
template <Binary choose> Array overNumbers(const Emitter &e, Array x, Array y) {
  if (!mlir::isa<mlir::FloatType>(elementTypeOf(x)))
    return choose(e, x, y);
  Array best = choose(e, e.select(emit::isNan(e, x), y, x), e.select(emit::isNan(e, y), x, y));
  return best;
}

Results pow(OpCall &c) {
  const IValue &exponent = c["exponent"];
  ElementType type = promotedType(c, {c["self"], exponent});
  if (!exponent.isTensor())
    return c.cast(emit::power(c.e, c.readAs(c["self"], type), c.number("exponent")), type);
  auto [lhs, rhs] = pairOf(c, c["self"], exponent, type);
  return emit::power(c.e, lhs, rhs);
}

template <Predicate predicate> Results comparison(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  if (isBool(lhs)) {
    lhs = c.cast(lhs, ElementType::I32);
    rhs = c.cast(rhs, ElementType::I32);
  }
  return c.e.compare(predicate, lhs, rhs);
}

template <typename Op> Results logical(OpCall &c) {
  auto [lhs, rhs] = pairOf(c, c["self"], c["other"], ElementType::Bool);
  return c.e.binary<Op>(lhs, rhs);
}
template <typename Op> Results bitwise(OpCall &c) {
  auto [lhs, rhs] = operands(c);
  if (isFloating(lhs))
    fail("works on the bits of floating-point numbers");
  return c.e.binary<Op>(lhs, rhs);
}
Results logicalNot(OpCall &c) {
  return c.e.logicalNot(c.cast(c.tensor("self"), ElementType::Bool));
}
Results bitwiseNot(OpCall &c) {
  Array x = c.tensor("self");
  return isBool(x) ? c.e.logicalNot(x) : c.e.sub(-1.0, x);
}

// log(exp(x) + exp(y)) without overflow.
Array addedExponents(const Emitter &e, Array x, Array y) {
  Array distance = e.neg(e.abs(e.sub(x, y)));
  return e.add(e.max(x, y), emit::logOnePlus(e, e.unary<ExpOp>(distance)));
}

// -- three operands -------------------------------------------------------------------------------
Results where(OpCall &c) {
  ElementType type = promotedType(c, {c["self"], c["other"]});
  auto [yes, no] = pairOf(c, c["self"], c["other"], type);
  return emit::where(c.e, c.cast(c.tensor("condition"), ElementType::Bool), yes, no);
}

Results maskedFill(OpCall &c) {
  Array x = c.tensor("self"), mask = c.cast(c.tensor("mask"), ElementType::Bool);
  return emit::where(c.e, mask, c.readAs(c["value"], typeOf(x)), x);
}

// min(max(x, low), high). Where both bounds are equal, whichever x is beyond gets the gradient, and
// x if it equals them.
Array between(const Emitter &e, Array x, Array low, Array high) {
  Array inside = e.min(e.max(x, low), high);
  Array atLeast = e.select(e.compare(Predicate::LT, x, low), low, x);
  Array pinned = e.select(e.compare(Predicate::GT, x, high), high, atLeast);
  return e.select(e.compare(Predicate::EQ, low, high), pinned, inside);
}

Results clamp(OpCall &c) {
  IValueList all{c["self"]};
  for (const char *name : {"min", "max"})
    if (c.has(name))
      all.push_back(c[name]);
  Array x = c.readAs(c["self"], promotedType(c, all));
  bool isNumbers = !c["min"].isTensor() && !c["max"].isTensor() && isFloating(x);
  if (isNumbers) {
    auto number = [&](const char *name) {
      return c.has(name) ? std::optional(c.number(name)) : std::nullopt;
    };
    return emit::clamped(c.e, x, number("min"), number("max"));
  }
  // A bound may have more dims than the tensor.
  emit::Values operands;
  for (const IValue &operand : all)
    operands.push_back(c.readAs(operand, typeOf(x)));
  c.e.broadcastTogether(operands);
  if (operands.size() == 3)
    return between(c.e, operands[0], operands[1], operands[2]);
  return c.has("min") ? c.e.max(operands[0], operands[1]) : c.e.min(operands[0], operands[1]);
}

// self + value * tensor1 (* or /) tensor2.
template <typename Op> Results addProduct(OpCall &c) {
  ElementType type = promotedType(c, {c["self"], c["tensor1"], c["tensor2"]});
  auto [a, b] = pairOf(c, c["tensor1"], c["tensor2"], type);
  Array product = c.e.binary<Op>(a, b);
  if (double value = c.number("value"); value != 1)
    product = c.e.mul(product, value);
  return emit::broadcastBinary<AddOp>(c.e, c.readAs(c["self"], type), product);
}

Results multiplyAdd(OpCall &c) {
  const ElementType type = promotedType(c, {c["a"], c["b"], c["c"]});
  auto [a, b] = pairOf(c, c["a"], c["b"], type);
  return emit::broadcastBinary<AddOp>(c.e, c.e.binary<MulOp>(a, b), c.readAs(c["c"], type));
}

Results lerp(OpCall &c) {
  auto [begin, end] =
      pairOf(c, c["self"], c["end"], c.floatType(promotedType(c, {c["self"], c["end"]})));
  return emit::interpolate(c.e, begin, end, c.readAs(c["weight"], typeOf(begin)));
}

// -- one operand ----------------------------------------------------------------------------------
template <typename Op> Results unary(OpCall &c) { return c.e.unary<Op>(c.floats("self")); }

// Of integers, too.
template <Unary function> Results anyFormula(OpCall &c) { return function(c.e, c.tensor("self")); }

Array negative(const Emitter &e, Array x) { return e.neg(x); }
Array absolute(const Emitter &e, Array x) { return e.abs(x); }
Array square(const Emitter &e, Array x) { return e.mul(x, x); }
Array log2(const Emitter &e, Array x) { return emit::logarithm(e, x, 2); }
Array log10(const Emitter &e, Array x) { return emit::logarithm(e, x, 10); }
Array exp2(const Emitter &e, Array x) { return e.unary<ExpOp>(e.mul(x, std::log(2.0))); }

Array fraction(const Emitter &e, Array x) { return e.sub(x, emit::truncate(e, x)); }
Array degrees(const Emitter &e, Array x) { return e.mul(x, 180 / M_PI); }
Array radians(const Emitter &e, Array x) { return e.mul(x, M_PI / 180); }
Array hypotenuse(const Emitter &e, Array x, Array y) {
  return emit::flatRoot(e, e.add(e.mul(x, x), e.mul(y, y)));
}
// log(x / (1 - x)) of x clamped to [eps, 1 - eps], whose bounds have the slope of the inside.
Results logit(OpCall &c) {
  Array x = c.floats("self");
  if (c.has("eps")) {
    double low = c.number("eps"), high = 1 - low;
    x = c.e.select(c.e.compare(Predicate::LT, x, low), c.e.splat(x, low), x);
    x = c.e.select(c.e.compare(Predicate::GT, x, high), c.e.splat(x, high), x);
  }
  return c.e.unary<LogOp>(c.e.div(x, c.e.sub(1.0, x)));
}

// Rounding leaves integers as they are.
template <typename Op> Results rounding(OpCall &c) {
  Array x = c.tensor("self");
  return isFloating(x) ? c.e.unary<Op>(x) : x;
}
Results truncate(OpCall &c) {
  Array x = c.tensor("self");
  return isFloating(x) ? emit::truncate(c.e, x) : x;
}
Results roundTo(OpCall &c) {
  Array x = c.tensor("self");
  double scale = std::pow(10.0, c.number("decimals"));
  if (!isFloating(x) || scale == 1)
    return isFloating(x) ? c.e.unary<RoundOp>(x) : x;
  return c.e.div(c.e.unary<RoundOp>(c.e.mul(x, scale)), scale);
}

// Integers are always finite numbers.
template <bool ofIntegers, Unary function> Results test(OpCall &c) {
  Array x = c.tensor("self");
  return isFloating(x) ? function(c.e, x) : c.filled(shapeOf(x), ElementType::Bool, ofIntegers);
}
Array isInfinite(const Emitter &e, Array x) { return emit::isInfinite(e, x); }

// The largest number of a floating-point type.
double largest(ElementType type) {
  return type == ElementType::F64    ? std::numeric_limits<double>::max()
         : type == ElementType::F16  ? 65504
         : type == ElementType::BF16 ? 0x1.FEp127
                                     : std::numeric_limits<float>::max();
}

Results nanToNum(OpCall &c) {
  Array x = c.tensor("self");
  if (!isFloating(x))
    return x;
  double most = largest(typeOf(x));
  auto given = [&](const char *name, double absent) {
    return c.e.splat(x, c.has(name) ? c.number(name) : absent);
  };
  Array out = c.e.select(emit::isNan(c.e, x), given("nan", 0), x);
  out = c.e.select(c.e.compare(Predicate::EQ, x, INFINITY), given("posinf", most), out);
  return c.e.select(c.e.compare(Predicate::EQ, x, -INFINITY), given("neginf", -most), out);
}

constexpr const char *kUnary = "T self";
constexpr const char *kBinary = "num self, num other";
constexpr const char *kAlpha = "num self, num other, s alpha=1";

constexpr OpEntry kElementwiseOps[] = {
    {"__and__", kBinary, bitwise<AndOp>},
    {"__or__", kBinary, bitwise<OrOp>},
    {"__xor__", kBinary, bitwise<XorOp>},
    {"abs", kUnary, anyFormula<absolute>},
    {"absolute", kUnary, anyFormula<absolute>},
    {"acos", kUnary, formula<emit::arcCosine>},
    {"acosh", kUnary, formula<emit::areaCosine>},
    {"add", kAlpha, add},
    {"addcdiv", "T self, T tensor1, T tensor2, *, s value=1", addProduct<DivOp>},
    {"addcmul", "T self, T tensor1, T tensor2, *, s value=1", addProduct<MulOp>},
    {"and_", kBinary, bitwise<AndOp>},
    {"arccos", kUnary, formula<emit::arcCosine>},
    {"arccosh", kUnary, formula<emit::areaCosine>},
    {"arcsin", kUnary, formula<emit::arcSine>},
    {"arcsinh", kUnary, formula<emit::areaSine>},
    {"arctan", kUnary, unary<AtanOp>},
    {"arctan2", kBinary, floatBinary<emit::arcTangent2>},
    {"arctanh", kUnary, formula<emit::areaTangent>},
    {"asin", kUnary, formula<emit::arcSine>},
    {"asinh", kUnary, formula<emit::areaSine>},
    {"atan", kUnary, unary<AtanOp>},
    {"atan2", kBinary, floatBinary<emit::arcTangent2>},
    {"atanh", kUnary, formula<emit::areaTangent>},
    {"bitwise_and", kBinary, bitwise<AndOp>},
    {"bitwise_not", kUnary, bitwiseNot},
    {"bitwise_or", kBinary, bitwise<OrOp>},
    {"bitwise_xor", kBinary, bitwise<XorOp>},
    {"ceil", kUnary, rounding<CeilOp>},
    {"clamp", "T self, num? min=None, num? max=None", clamp},
    {"clamp_max", "T self, num max, num? min=None", clamp},
    {"clamp_min", "T self, num min, num? max=None", clamp},
    {"clip", "T self, num? min=None, num? max=None", clamp},
    {"cos", kUnary, unary<CosOp>},
    {"cosh", kUnary, formula<emit::hyperbolicCosine>},
    {"deg2rad", kUnary, formula<radians>},
    {"div", "num self, num other, str? rounding_mode=None", div},
    {"divide", "num self, num other, str? rounding_mode=None", div},
    {"eq", kBinary, comparison<Predicate::EQ>},
    {"erf", kUnary, unary<ErfOp>},
    {"exp", kUnary, unary<ExpOp>},
    {"exp2", kUnary, formula<exp2>},
    {"expm1", kUnary, formula<emit::expMinusOne>},
    {"fix", kUnary, truncate},
    {"floor", kUnary, rounding<FloorOp>},
    {"floor_divide", kBinary, binary<emit::floorDivide>},
    {"floordiv", kBinary, binary<emit::floorDivide>},
    {"fmax", kBinary, binary<overNumbers<maximum>>},
    {"fmin", kBinary, binary<overNumbers<minimum>>},
    {"fmod", kBinary, binary<emit::truncatedRemainder>},
    {"frac", kUnary, formula<fraction>},
    {"ge", kBinary, comparison<Predicate::GE>},
    {"greater", kBinary, comparison<Predicate::GT>},
    {"greater_equal", kBinary, comparison<Predicate::GE>},
    {"gt", kBinary, comparison<Predicate::GT>},
    {"hypot", kBinary, floatBinary<hypotenuse>},
    {"isfinite", kUnary, test<true, emit::isFinite>},
    {"isinf", kUnary, test<false, isInfinite>},
    {"isnan", kUnary, test<false, emit::isNan>},
    {"le", kBinary, comparison<Predicate::LE>},
    {"lerp", "T self, T end, num weight", lerp},
    {"less", kBinary, comparison<Predicate::LT>},
    {"less_equal", kBinary, comparison<Predicate::LE>},
    {"log", kUnary, unary<LogOp>},
    {"log10", kUnary, formula<log10>},
    {"log1p", kUnary, formula<emit::logOnePlus>},
    {"log2", kUnary, formula<log2>},
    {"logaddexp", kBinary, floatBinary<addedExponents>},
    {"logical_and", kBinary, logical<AndOp>},
    {"logical_not", kUnary, logicalNot},
    {"logical_or", kBinary, logical<OrOp>},
    {"logical_xor", kBinary, logical<XorOp>},
    {"logit", "T self, f? eps=None", logit},
    {"lt", kBinary, comparison<Predicate::LT>},
    {"masked_fill", "T self, T mask, num value", maskedFill},
    {"max", "T self, T other", binary<maximum>},
    {"maximum", kBinary, binary<maximum>},
    {"min", "T self, T other", binary<minimum>},
    {"minimum", kBinary, binary<minimum>},
    {"mod", kBinary, binary<emit::floorRemainder>},
    {"mul", kBinary, mul},
    {"multiply", kBinary, mul},
    {"nan_to_num", "T self, s? nan=None, s? posinf=None, s? neginf=None", nanToNum},
    {"ne", kBinary, comparison<Predicate::NE>},
    {"neg", kUnary, anyFormula<negative>},
    {"negative", kUnary, anyFormula<negative>},
    {"not_equal", kBinary, comparison<Predicate::NE>},
    {"not_", kUnary, logicalNot},
    {"or_", kBinary, bitwise<OrOp>},
    {"pow", "num self, num exponent", pow},
    {"rad2deg", kUnary, formula<degrees>},
    {"prims::fma", "num a, num b, num c", multiplyAdd},
    {"reciprocal", kUnary, formula<emit::reciprocal>},
    {"remainder", kBinary, binary<emit::floorRemainder>},
    {"round", "T self, *, i decimals=0", roundTo},
    {"rsqrt", kUnary, unary<RsqrtOp>},
    {"rsub", kAlpha, reverseSub},
    {"sgn", kUnary, anyFormula<emit::sign>},
    {"sign", kUnary, anyFormula<emit::sign>},
    {"sin", kUnary, unary<SinOp>},
    {"sinh", kUnary, formula<emit::hyperbolicSine>},
    {"sqrt", kUnary, unary<SqrtOp>},
    {"square", kUnary, anyFormula<square>},
    {"sub", kAlpha, sub},
    {"subtract", kAlpha, sub},
    {"sym_ite", "T condition, num self, num other", where},
    {"sym_max", kBinary, binary<maximum>},
    {"sym_min", kBinary, binary<minimum>},
    {"sym_not", kUnary, logicalNot},
    {"tan", kUnary, formula<emit::tangent>},
    {"tanh", kUnary, unary<TanhOp>},
    {"truediv", "num self, num other, str? rounding_mode=None", div},
    {"true_divide", "num self, num other, str? rounding_mode=None", div},
    {"trunc", kUnary, truncate},
    {"where", "T condition, num self, num other", where},
};

} // namespace

llvm::ArrayRef<OpEntry> elementwiseOps() { return kElementwiseOps; }

} // namespace cleave::aten
