// Elementwise operators: arithmetic, comparisons, logic, casts, with numpy's broadcasting made
// explicit.
#include "compiler/frontend/onnx/NodeImport.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using namespace graph;

// -- one operand
// ---------------------------------------------------------------------------------------------
template <typename Op> Values unary(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return {Op::create(n.b, n.loc, n.input(0).getType(), n.input(0))};
}

Values importNeg(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  if (mlir::isa<mlir::FloatType>(elementOf(x)))
    return unary<NegOp>(n);
  return {SubOp::create(n.b, n.loc, n.splat(x, 0), x)};
}

Values importAbs(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  if (mlir::isa<mlir::FloatType>(elementOf(x)))
    return unary<AbsOp>(n);
  return {MaxOp::create(n.b, n.loc, x, SubOp::create(n.b, n.loc, n.splat(x, 0), x))};
}

Values importReciprocal(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return {DivOp::create(n.b, n.loc, n.splat(n.input(0), 1), n.input(0))};
}

Values importNot(NodeImport &n) {
  n.checkInputs(1, 1);
  if (!elementOf(n.input(0)).isInteger(1))
    fail("has an operand of " + typeNameOf(n.input(0)) + ", expected bool");
  return {NotOp::create(n.b, n.loc, n.input(0).getType(), n.input(0))};
}

Value compareWith(NodeImport &n, Predicate predicate, Value x, Value y) {
  return CompareOp::create(n.b, n.loc, predicate, x, y);
}

Values importIsNaN(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return {compareWith(n, Predicate::NE, n.input(0), n.input(0))};
}

Values importIsInf(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  bool negative = n.integer("detect_negative", 1), positive = n.integer("detect_positive", 1);
  Value infinity = n.splat(x, std::numeric_limits<double>::infinity());
  Value minus = NegOp::create(n.b, n.loc, x.getType(), infinity);
  Value isPlus = compareWith(n, Predicate::EQ, x, infinity),
        isMinus = compareWith(n, Predicate::EQ, x, minus);
  if (positive && negative)
    return {OrOp::create(n.b, n.loc, isPlus, isMinus)};
  if (positive || negative)
    return {positive ? isPlus : isMinus};
  return {n.splat(isPlus, 0)};
}

// select(x < 0, below, select(x > 0, above, 0)) with ±1.
Values importSign(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0), zero = n.splat(x, 0);
  Value positive = n.cast(compareWith(n, Predicate::GT, x, zero), elementOf(x));
  Value negative = n.cast(compareWith(n, Predicate::LT, x, zero), elementOf(x));
  return {SubOp::create(n.b, n.loc, positive, negative)};
}

Values importTan(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  Value sine = SinOp::create(n.b, n.loc, x.getType(), x);
  return {DivOp::create(n.b, n.loc, sine, CosOp::create(n.b, n.loc, x.getType(), x))};
}

// -- two operands
// -------------------------------------------------------------------------------------------- Both
// operands, of one type and broadcast.
std::pair<Value, Value> operands(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0), y = n.input(1);
  n.checkSameType(x, y);
  n.broadcastTogether(x, y);
  return {x, y};
}

template <typename Op> Values binary(NodeImport &n) {
  auto [x, y] = operands(n);
  return {Op::create(n.b, n.loc, x, y)};
}

template <typename Op> Values arithmetic(NodeImport &n) {
  auto [x, y] = operands(n);
  if (elementOf(x).isInteger(1))
    fail("has operands of bool, expected numbers");
  return {Op::create(n.b, n.loc, x, y)};
}

template <typename Op> Values logical(NodeImport &n) {
  auto [x, y] = operands(n);
  if (!elementOf(x).isInteger(1))
    fail("has operands of " + typeNameOf(x) + ", expected bool");
  return {Op::create(n.b, n.loc, x, y)};
}

template <Predicate predicate> Values compare(NodeImport &n) {
  auto [x, y] = operands(n);
  return {compareWith(n, predicate, x, y)};
}

// x to a known power: by products and roots where that is exact and cheap.
Value knownPower(NodeImport &n, Value x, double power) {
  auto times = [&](Value a, Value c) -> Value { return MulOp::create(n.b, n.loc, a, c); };
  if (power == 1)
    return x;
  if (power == 2)
    return times(x, x);
  if (power == 3)
    return times(times(x, x), x);
  if (power == 0.5)
    return SqrtOp::create(n.b, n.loc, x.getType(), x);
  if (power == -1)
    return DivOp::create(n.b, n.loc, n.splat(x, 1), x);
  return nullptr;
}

Values importPow(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0), y = n.input(1);
  bool real = mlir::isa<mlir::FloatType>(elementOf(x));
  std::optional<Tensor> power = n.services.evaluator.evaluate(y);
  bool scalar = power && power->size() == 1 && product(dimsOf(y)) == 1 && rankOf(y) <= rankOf(x);
  if (scalar && (real || power->values[0] >= 1))
    if (Value known = knownPower(n, x, power->values[0]))
      return {known};
  // Integers: by the floating-point power, exact up to 2^53.
  mlir::Type element = elementOf(x), computed = real ? element : n.b.getF64Type();
  x = n.cast(x, computed);
  y = n.cast(y, computed);
  n.broadcastTogether(x, y);
  return {n.cast(PowOp::create(n.b, n.loc, x, y), element)};
}

// The remainder with the sign of the divisor, or with `fmod` of the dividend.
Values importMod(NodeImport &n) {
  auto [x, y] = operands(n);
  Value rest = RemOp::create(n.b, n.loc, x, y);
  bool real = mlir::isa<mlir::FloatType>(elementOf(x));
  if (n.integer("fmod", 0))
    return {rest};
  if (real)
    fail("has floating-point operands, which needs the attribute fmod=1");
  Value zero = n.splat(rest, 0);
  Value isNegative = compareWith(n, Predicate::LT, rest, zero),
        wantsNegative = compareWith(n, Predicate::LT, y, zero);
  Value differ = XorOp::create(n.b, n.loc, isNegative, wantsNegative);
  Value wrong = AndOp::create(n.b, n.loc, differ, compareWith(n, Predicate::NE, rest, zero));
  return {SelectOp::create(n.b, n.loc, rest.getType(), wrong, AddOp::create(n.b, n.loc, rest, y),
                           rest)};
}

// -- any number of operands
// ----------------------------------------------------------------------------------
template <typename Op> Value foldAll(NodeImport &n) {
  Values all = n.allInputs();
  Value result = all[0];
  for (Value next : llvm::drop_begin(all)) {
    n.checkSameType(result, next);
    n.broadcastTogether(result, next);
    result = Op::create(n.b, n.loc, result, next);
  }
  return result;
}

template <typename Op> Values variadic(NodeImport &n) { return {foldAll<Op>(n)}; }

Values importMean(NodeImport &n) {
  Value sum = foldAll<AddOp>(n);
  n.checkFloat(sum);
  return {DivOp::create(n.b, n.loc, sum, n.splat(sum, static_cast<double>(n.inputCount())))};
}

Values importWhere(NodeImport &n) {
  n.checkInputs(3, 3);
  Value condition = n.input(0), x = n.input(1), y = n.input(2);
  if (!elementOf(condition).isInteger(1))
    fail("has a condition of " + typeNameOf(condition) + ", expected bool");
  n.checkSameType(x, y);
  Dims dims = broadcastDims(broadcastDims(dimsOf(condition), dimsOf(x)), dimsOf(y));
  condition = n.broadcast(condition, dims);
  x = n.broadcast(x, dims);
  y = n.broadcast(y, dims);
  return {SelectOp::create(n.b, n.loc, x.getType(), condition, x, y)};
}

// -- clipping
// ------------------------------------------------------------------------------------------------
Values importClip(NodeImport &n) {
  n.checkInputs(1, 3);
  Value x = n.input(0);
  for (size_t i : {1, 2}) {
    if (!n.hasInput(i))
      continue;
    Value bound = n.input(i);
    n.checkSameType(x, bound);
    bound = n.broadcast(bound, dimsOf(x));
    x = i == 1 ? Value(MaxOp::create(n.b, n.loc, x, bound))
               : Value(MinOp::create(n.b, n.loc, x, bound));
  }
  return {x};
}

// -- casts
// ---------------------------------------------------------------------------------------------------
Values castTo(NodeImport &n, mlir::Type element) {
  Value x = n.input(0);
  // Truth values from numbers: everything but zero is true.
  if (element.isInteger(1) && !elementOf(x).isInteger(1))
    return {compareWith(n, Predicate::NE, x, n.splat(x, 0))};
  return {n.cast(x, element)};
}

Values importCast(NodeImport &n) {
  n.checkInputs(1, 1);
  auto to = static_cast<int32_t>(n.requiredInteger("to"));
  n.ignore({"saturate", "round_mode"}); // about 8-bit floats only
  std::optional<ElementType> type = elementTypeOf(to);
  if (!type)
    fail("casts to " + dataTypeName(to) + ", which Cleave does not compute with");
  return castTo(n, fromElementType(*type, n.b.getContext()));
}

Values importCastLike(NodeImport &n) {
  n.checkInputs(2, 2);
  n.ignore({"saturate", "round_mode"});
  return castTo(n, elementOf(n.input(1)));
}

constexpr OpEntry kOps[] = {
    {"Abs", 6, importAbs},
    {"Add", 7, arithmetic<AddOp>},
    {"And", 7, logical<AndOp>},
    {"Atan", 7, unary<AtanOp>},
    {"Cast", 9, importCast},
    {"CastLike", 15, importCastLike},
    {"Ceil", 6, unary<CeilOp>},
    {"Clip", 11, importClip},
    {"Cos", 7, unary<CosOp>},
    {"Div", 7, arithmetic<DivOp>},
    {"Equal", 7, compare<Predicate::EQ>},
    {"Erf", 9, unary<ErfOp>},
    {"Exp", 6, unary<ExpOp>},
    {"Floor", 6, unary<FloorOp>},
    {"Greater", 7, compare<Predicate::GT>},
    {"GreaterOrEqual", 12, compare<Predicate::GE>},
    {"IsInf", 10, importIsInf},
    {"IsNaN", 9, importIsNaN},
    {"Less", 7, compare<Predicate::LT>},
    {"LessOrEqual", 12, compare<Predicate::LE>},
    {"Log", 6, unary<LogOp>},
    {"Max", 8, variadic<MaxOp>},
    {"Mean", 8, importMean},
    {"Min", 8, variadic<MinOp>},
    {"Mod", 10, importMod},
    {"Mul", 7, arithmetic<MulOp>},
    {"Neg", 6, importNeg},
    {"Not", 1, importNot},
    {"Or", 7, logical<OrOp>},
    {"Pow", 7, importPow},
    {"Reciprocal", 6, importReciprocal},
    {"Round", 11, unary<RoundOp>},
    {"Sign", 9, importSign},
    {"Sin", 7, unary<SinOp>},
    {"Sqrt", 6, unary<SqrtOp>},
    {"Sub", 7, arithmetic<SubOp>},
    {"Sum", 8, variadic<AddOp>},
    {"Tan", 7, importTan},
    {"Tanh", 6, unary<TanhOp>},
    {"Where", 9, importWhere},
    {"Xor", 7, logical<XorOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> elementwiseOps() { return kOps; }

} // namespace cleave::onnx
