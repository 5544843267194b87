// Elementwise operators: arithmetic, comparisons, logic and casts, with explicit broadcasts by
// numpy's rule.
#include "compiler/frontend/emit/Elementwise.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {
namespace {

using namespace graph;
using emit::elementOf;

// -- one operand ----------------------------------------------------------------------------------
template <typename Op> Values unary(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return {n.unary<Op>(n.input(0))};
}

template <Value (*function)(const emit::Emitter &, Value)> Values plain(NodeImport &n) {
  n.checkInputs(1, 1);
  return {function(n, n.input(0))};
}

Values importNeg(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.neg(n.input(0))};
}

Values importAbs(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.abs(n.input(0))};
}

Values importNot(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkBool(n.input(0), "an operand");
  return {n.logicalNot(n.input(0))};
}

Values importIsInf(NodeImport &n) {
  n.checkInputs(1, 1);
  bool negative = n.integer("detect_negative", 1), positive = n.integer("detect_positive", 1);
  return {emit::isInfinite(n, n.input(0), positive, negative)};
}

// -- two operands ---------------------------------------------------------------------------------
std::pair<Value, Value> operands(NodeImport &n) {
  n.checkInputs(2, 2);
  return {n.input(0), n.input(1)};
}

template <typename Op> Values arithmetic(NodeImport &n) {
  auto [x, y] = operands(n);
  if (emit::isBool(x))
    fail("has operands of bool, expected numbers");
  return {emit::broadcastBinary<Op>(n, x, y)};
}

template <typename Op> Values logical(NodeImport &n) {
  auto [x, y] = operands(n);
  n.checkBool(x, "operands");
  return {emit::broadcastBinary<Op>(n, x, y)};
}

template <Predicate predicate> Values compare(NodeImport &n) {
  auto [x, y] = operands(n);
  return {emit::broadcastCompare(n, predicate, x, y)};
}

Values importPow(NodeImport &n) {
  auto [x, y] = operands(n);
  return {emit::power(n, x, y)};
}

// The remainder with the sign of the divisor, or with `fmod` that of the dividend.
Values importMod(NodeImport &n) {
  auto [x, y] = operands(n);
  if (n.integer("fmod", 0))
    return {emit::truncatedRemainder(n, x, y)};
  if (emit::isFloat(x))
    fail("has floating-point operands, which needs the attribute fmod=1");
  return {emit::floorRemainder(n, x, y)};
}

// -- any number of operands -----------------------------------------------------------------------
template <typename Op> Value foldAll(NodeImport &n) {
  Values all = n.allInputs();
  Value result = all[0];
  for (Value next : llvm::drop_begin(all))
    result = emit::broadcastBinary<Op>(n, result, next);
  return result;
}

template <typename Op> Values variadic(NodeImport &n) { return {foldAll<Op>(n)}; }

// Whether the node bounds its first input by numbers in PyTorch, where the slope at a bound is 0.
// Where a tensor bounds it, both share the gradient. None where the file does not tell.
std::optional<bool> isBoundedByNumbers(const Node &node) {
  std::optional<FxNode> origin = fxNodeOf(node);
  if (!origin || origin->arguments.empty())
    return std::nullopt;
  llvm::StringRef target = origin->target;
  if (target == "aten.maximum.default" || target == "aten.minimum.default")
    return false; // a pair of them becomes a Clip
  if (!target.starts_with("aten.clamp") || !target.ends_with(".Tensor"))
    return std::nullopt;
  return llvm::all_of(llvm::drop_begin(origin->arguments), [](llvm::StringRef bound) {
    return bound.starts_with("scalar_tensor"); // a number that the exporter made a tensor
  });
}

Values importMax(NodeImport &n) {
  if (n.inputCount() == 2 && isBoundedByNumbers(n.node).value_or(false))
    return {emit::clip(n, n.input(0), n.input(1), Value())};
  return variadic<MaxOp>(n);
}
Values importMin(NodeImport &n) {
  if (n.inputCount() == 2 && isBoundedByNumbers(n.node).value_or(false))
    return {emit::clip(n, n.input(0), Value(), n.input(1))};
  return variadic<MinOp>(n);
}

Values importMean(NodeImport &n) {
  Value sum = foldAll<AddOp>(n);
  n.checkFloat(sum);
  return {n.div(sum, static_cast<double>(n.inputCount()))};
}

Values importWhere(NodeImport &n) {
  n.checkInputs(3, 3);
  return {emit::where(n, n.input(0), n.input(1), n.input(2))};
}

// -- clipping -------------------------------------------------------------------------------------
Values importClip6(NodeImport &n) {
  n.checkInputs(1, 1);
  constexpr double largest = 3.4028234663852886e+38; // the default bounds, of float32
  double low = n.decimal("min", -largest), high = n.decimal("max", largest);
  return {emit::clamped(n, n.input(0), low > -largest ? std::optional(low) : std::nullopt,
                        high < largest ? std::optional(high) : std::nullopt)};
}

Values importClip11(NodeImport &n) {
  n.checkInputs(1, 3);
  Value x = n.input(0), low = n.optionalInput(1), high = n.optionalInput(2);
  if (isBoundedByNumbers(n.node).value_or(true))
    return {emit::clip(n, x, low, high)};
  if (low)
    x = emit::broadcastBinary<MaxOp>(n, x, low);
  return {high ? emit::broadcastBinary<MinOp>(n, x, high) : x};
}

// -- casts ----------------------------------------------------------------------------------------
// The first operand rounded to the narrow type.
Bindings castNarrow(NodeImport &n, int32_t to) {
  Value x = toNarrow(n, n.input(0), *narrowType(to), n.integer("saturate", 1));
  return {Binding{.values = {x}, .narrow = to}};
}

Bindings importCast(NodeImport &n) {
  n.checkInputs(1, 1);
  n.ignore({"saturate", "round_mode"}); // of narrow floats only
  auto to = static_cast<int32_t>(n.requiredInteger("to"));
  if (std::optional<Binding> cast = castString(n, to))
    return {*cast};
  if (narrowType(to))
    return castNarrow(n, to);
  std::optional<ElementType> type = elementTypeOf(to);
  if (!type)
    fail("casts to ", dataTypeName(to), ", which Cleave does not compute with");
  return {Binding{{n.cast(n.input(0), fromElementType(*type, n.b.getContext()))}}};
}

Bindings importCastLike(NodeImport &n) {
  n.checkInputs(2, 2);
  n.ignore({"saturate", "round_mode"});
  Binding like = n.binding(1);
  if (like.narrow)
    return castNarrow(n, like.narrow);
  int32_t to = like.isString ? kStringType : dataTypeOf(toElementType(elementOf(n.input(1))));
  if (std::optional<Binding> cast = castString(n, to))
    return {*cast};
  return {Binding{{n.cast(n.input(0), elementOf(n.input(1)))}}};
}

constexpr OpEntry kElementwiseOps[] = {
    {"Abs", 6, importAbs},
    {"Add", 7, arithmetic<AddOp>},
    {"And", 7, logical<AndOp>},
    {"Atan", 7, unary<AtanOp>},
    {"Cast", 6, importCast},
    {"CastLike", 15, importCastLike},
    {"Ceil", 6, unary<CeilOp>},
    {"Clip", 6, importClip6},
    {"Clip", 11, importClip11},
    {"Cos", 7, unary<CosOp>},
    {"Div", 7, arithmetic<DivOp>},
    {"Equal", 7, compare<Predicate::EQ>},
    {"Erf", 9, unary<ErfOp>},
    {"Exp", 6, unary<ExpOp>},
    {"Floor", 6, unary<FloorOp>},
    {"Greater", 7, compare<Predicate::GT>},
    {"GreaterOrEqual", 12, compare<Predicate::GE>},
    {"IsInf", 10, importIsInf},
    {"IsNaN", 9, plain<emit::isNan>},
    {"Less", 7, compare<Predicate::LT>},
    {"LessOrEqual", 12, compare<Predicate::LE>},
    {"Log", 6, unary<LogOp>},
    {"Max", 6, importMax},
    {"Mean", 6, importMean},
    {"Min", 6, importMin},
    {"Mod", 10, importMod},
    {"Mul", 7, arithmetic<MulOp>},
    {"Neg", 6, importNeg},
    {"Not", 1, importNot},
    {"Or", 7, logical<OrOp>},
    {"Pow", 7, importPow},
    {"Reciprocal", 6, plain<emit::reciprocal>},
    {"Round", 11, unary<RoundOp>},
    {"Sign", 9, plain<emit::sign>},
    {"Sin", 7, unary<SinOp>},
    {"Sqrt", 6, unary<SqrtOp>},
    {"Sub", 7, arithmetic<SubOp>},
    {"Sum", 6, variadic<AddOp>},
    {"Tanh", 6, unary<TanhOp>},
    {"Where", 9, importWhere},
    {"Xor", 7, logical<XorOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> elementwiseOps() { return kElementwiseOps; }

} // namespace cleave::onnx
