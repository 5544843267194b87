// Scalars and lists of the program: arithmetic on integers with symbols, conversions between
// tensors and numbers, attributes of tensors, Python's lists.
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Quotient.h"
#include "dialects/graph/Pointwise.h"

#include <cmath>
#include <limits>

namespace cleave::aten {
namespace {

using emit::truncated;
using graph::Predicate;

// -- arithmetic -----------------------------------------------------------------------------------
bool isWhole(const IValue &value) { return value.isInt() || value.isBool(); }

Polynomial whole(OpCall &c, std::string_view name) {
  return integerOf(c.context, c[name], "'" + std::string(name) + "'");
}

bool bothWhole(OpCall &c) { return isWhole(c["self"]) && isWhole(c["other"]); }

[[noreturn]] void failOnSymbols(const Polynomial &number) {
  fail(emit::dependsOnSymbols(number.symbols()));
}

int64_t known(const Polynomial &number) {
  if (std::optional<int64_t> value = number.constant())
    return *value;
  failOnSymbols(number);
}

// floor(a / b).
Polynomial floorQuotient(const Polynomial &a, const Polynomial &b) {
  if (b == Polynomial(0))
    fail("divides by 0");
  if (std::optional<Polynomial> exact = a.dividedBy(b))
    return *exact;
  std::optional<int64_t> divisor = b.constant();
  if (!divisor)
    failOnSymbols(b);
  if (*divisor == std::numeric_limits<int64_t>::min())
    fail("divides by ", *divisor);
  return *divisor > 0 ? a.floorDividedBy(*divisor) : (Polynomial(0) - a).floorDividedBy(-*divisor);
}

Results addNumbers(OpCall &c) {
  if (bothWhole(c) && isWhole(c["alpha"]))
    return IValue(whole(c, "self") + whole(c, "alpha") * whole(c, "other"));
  return IValue(c.number("self") + c.number("alpha") * c.number("other"));
}
Results subNumbers(OpCall &c) {
  if (bothWhole(c) && isWhole(c["alpha"]))
    return IValue(whole(c, "self") - whole(c, "alpha") * whole(c, "other"));
  return IValue(c.number("self") - c.number("alpha") * c.number("other"));
}
Results mulNumbers(OpCall &c) {
  if (bothWhole(c))
    return IValue(whole(c, "self") * whole(c, "other"));
  return IValue(c.number("self") * c.number("other"));
}
Results trueDivide(OpCall &c) {
  if (c.number("other") == 0)
    fail("divides by 0");
  return IValue(c.number("self") / c.number("other"));
}
Results floorDivide(OpCall &c) {
  if (bothWhole(c))
    return IValue(floorQuotient(whole(c, "self"), whole(c, "other")));
  return IValue(std::floor(c.number("self") / c.number("other")));
}
Results divide(OpCall &c) {
  if (!c.has("rounding_mode"))
    return trueDivide(c);
  if (c.string("rounding_mode") == "floor")
    return floorDivide(c);
  return IValue(std::trunc(c.number("self") / c.number("other")));
}
Results modulo(OpCall &c) {
  if (!bothWhole(c)) {
    double a = c.number("self"), b = c.number("other");
    return IValue(a - b * std::floor(a / b));
  }
  Polynomial a = whole(c, "self"), b = whole(c, "other");
  return IValue(a - b * floorQuotient(a, b));
}
Results powerOf(OpCall &c, const char *first, const char *second) {
  const IValue &base = c[first], &exponent = c[second];
  if (!isWhole(base) || !isWhole(exponent) || c.number(second) < 0)
    return IValue(std::pow(c.number(first), c.number(second)));
  int64_t times = known(whole(c, second));
  if (times > 64)
    fail("raises an integer to the power of ", times);
  Polynomial out(1), square = whole(c, first);
  for (; times > 0; times /= 2, square *= Polynomial(square))
    if (times % 2)
      out *= square;
  return IValue(out);
}
Results power(OpCall &c) { return powerOf(c, "self", "exponent"); }
Results powerOfIntegers(OpCall &c) { return powerOf(c, "a", "b"); }
Results negate(OpCall &c) {
  if (isWhole(c["self"]))
    return IValue(Polynomial(0) - whole(c, "self"));
  return IValue(-c.number("self"));
}

// -- numbers of data ------------------------------------------------------------------------------
// Whether the argument is a tensor of one element that depends on data. Its number is a tensor,
// too, with which operators compute.
bool isOfData(OpCall &c) {
  if (!c["self"].isTensor() || c.handle("self")->number())
    return false;
  Array x = c.tensor("self");
  return emit::product(shapeOf(x)) == Polynomial(1) && !c.e.known(x) && !c.e.evaluator.sizes(x);
}
// PyTorch's numbers have no gradient.
IValue numberOfData(OpCall &c, ElementType type) {
  Array x = c.e.reshape(c.tensor("self"), {});
  return TensorState::ofPythonNumber(c.cast(stopped(c.e, x), type));
}

// -- comparison -----------------------------------------------------------------------------------
bool holds(OpCall &c, Predicate predicate) {
  if (!bothWhole(c))
    return graph::compareScalars(predicate, c.number("self"), c.number("other"));
  Polynomial a = whole(c, "self"), b = whole(c, "other");
  if (std::optional<bool> out = emit::compare(predicate, {a}, {b}))
    return *out;
  failOnSymbols(a - b);
}
template <Predicate predicate> Results numberComparison(OpCall &c) {
  return IValue(holds(c, predicate));
}
Results least(OpCall &c) { return holds(c, Predicate::LE) ? c["self"] : c["other"]; }
Results most(OpCall &c) { return holds(c, Predicate::GE) ? c["self"] : c["other"]; }
template <bool isSame> Results compareTexts(OpCall &c) {
  return IValue((c.string("self") == c.string("other")) == isSame);
}

Results conjunction(OpCall &c) { return IValue(c.boolean("self") && c.boolean("other")); }
Results disjunction(OpCall &c) { return IValue(c.boolean("self") || c.boolean("other")); }
Results negation(OpCall &c) {
  if (!isOfData(c))
    return IValue(!c.boolean("self"));
  Array x = c.e.reshape(c.cast(c.tensor("self"), ElementType::Bool), {});
  return IValue(TensorState::ofPythonNumber(c.e.logicalNot(x)));
}
template <bool isSame> Results identity(OpCall &c) {
  const IValue &a = c["self"], &b = c["other"];
  if (!a.isNone() && !b.isNone())
    fail("compares the identity of two objects, which Cleave does not do");
  return IValue((a.isNone() && b.isNone()) == isSame);
}

// -- functions of one number ----------------------------------------------------------------------
template <double (*function)(double)> Results real(OpCall &c) {
  return IValue(function(c.number("self")));
}
template <double (*function)(double)> Results rounded(OpCall &c) {
  if (isWhole(c["self"]))
    return c["self"];
  return IValue(truncated(function(c.number("self"))));
}
Results absoluteNumber(OpCall &c) {
  if (isWhole(c["self"])) {
    int64_t number = known(whole(c, "self"));
    return IValue(number < 0 ? Polynomial(0) - Polynomial(number) : Polynomial(number));
  }
  return IValue(std::fabs(c.number("self")));
}

// -- conversion -----------------------------------------------------------------------------------
Results toInteger(OpCall &c) {
  if (isOfData(c))
    return numberOfData(c, ElementType::I64);
  if (c["self"].isFloat())
    return IValue(truncated(c.number("self")));
  return IValue(c.integer("self"));
}
Results toNumber(OpCall &c) {
  if (isOfData(c))
    return numberOfData(c, ElementType::F64);
  return IValue(c.number("self"));
}
Results toBool(OpCall &c) {
  if (isOfData(c))
    return numberOfData(c, ElementType::Bool);
  return IValue(c.boolean("self"));
}

// The element of a tensor of one element as a number.
Results item(OpCall &c) {
  if (!c["self"].isTensor())
    return c["self"];
  if (c.handle("self")->number())
    return IValue(*c.handle("self")->number());
  Array elements = c.tensor("self");
  if (isOfData(c))
    return numberOfData(c, isFloating(elements)                    ? ElementType::F64
                           : typeOf(elements) == ElementType::Bool ? ElementType::Bool
                                                                   : ElementType::I64);
  if (typeOf(elements) == ElementType::Bool)
    return IValue(c.boolean("self"));
  return isFloating(elements) ? IValue(c.number("self")) : IValue(c.integer("self"));
}

Results toTensor(OpCall &c) {
  if (c["self"].isInt())
    return IValue(TensorState::ofNumber(c.integer("self")));
  return c.read(c["self"]);
}

// -- what tensors say about themselves ------------------------------------------------------------
Sizes shapeOfTensor(OpCall &c) {
  return c.handle("self")->number() ? Sizes() : shapeOf(c.tensor("self"));
}

Results size(OpCall &c) {
  Sizes shape = shapeOfTensor(c);
  return IValue(shape[c.dim("dim", static_cast<int64_t>(shape.size()))]);
}
Results sizes(OpCall &c) {
  IValueList out;
  for (const Polynomial &dim : shapeOfTensor(c))
    out.emplace_back(dim);
  return IValue::list(std::move(out));
}
// Where elements lie in PyTorch's memory.
std::vector<Polynomial> stridesOf(OpCall &c) {
  Strides strides = c.handle("self")->strides(c.e);
  if (!strides)
    fail("asks for strides that are not known; call contiguous() before");
  return *strides;
}
Results strides(OpCall &c) {
  IValueList out;
  for (const Polynomial &stride : stridesOf(c))
    out.emplace_back(stride);
  return IValue::list(std::move(out));
}
Results stride(OpCall &c) {
  std::vector<Polynomial> all = stridesOf(c);
  return IValue(all[c.dim("dim", static_cast<int64_t>(all.size()))]);
}
Results storageOffset(OpCall &c) {
  if (c.handle("self")->isView() || c.handle("self")->isDense(c.e) != true)
    fail("asks where a tensor begins in memory, which is not known of a view");
  return IValue(int64_t(0));
}
Results rank(OpCall &c) { return IValue(static_cast<int64_t>(shapeOfTensor(c).size())); }
Results count(OpCall &c) {
  Polynomial out(1);
  for (const Polynomial &dim : shapeOfTensor(c))
    out *= dim;
  return IValue(out);
}
Results lengthOfTensor(OpCall &c) {
  Sizes shape = shapeOfTensor(c);
  if (shape.empty())
    fail("asks for the length of a tensor without dims");
  return IValue(shape[0]);
}
ElementType typeOfTensor(OpCall &c) {
  return c.handle("self")->number() ? ElementType::I64 : typeOf(c.tensor("self"));
}
Results dtype(OpCall &c) { return IValue(dtypeOf(typeOfTensor(c))); }
Results isFloatingPoint(OpCall &c) { return IValue(isFloat(typeOfTensor(c))); }
// Devices, layouts and the like, which are equal for all tensors.
Results device(OpCall &) { return IValue("cpu"); }
template <int64_t number> Results constant(OpCall &) { return IValue(number); }
template <bool value> Results answer(OpCall &) { return IValue(value); }
Results takesGradients(OpCall &c) { return IValue(c.context.gradients); }
Results nothing(OpCall &) { return IValueList{IValue()}; }
Results sameValue(OpCall &c) { return c["self"]; }

// -- lists and strings ----------------------------------------------------------------------------
int64_t place(OpCall &c, std::string_view name, size_t size) {
  auto count = static_cast<int64_t>(size);
  int64_t at = known(whole(c, name)), fromFront = at < 0 ? at + count : at;
  if (fromFront < 0 || fromFront >= count)
    fail("takes item ", at, " of ", count);
  return fromFront;
}

std::vector<IValue> &items(OpCall &c) { return c["self"].listRef()->items; }

// Fails where a list would exceed the maximum number of items.
void checkLength(size_t before, size_t more) {
  constexpr size_t most = 1 << 17;
  if (before > most || more > most - before)
    fail("makes a list of more than ", most, " items");
}

Results length(OpCall &c) { return IValue(static_cast<int64_t>(items(c).size())); }
Results lengthOfText(OpCall &c) { return IValue(static_cast<int64_t>(c.string("self").size())); }
Results takeItem(OpCall &c) { return items(c)[place(c, "idx", items(c).size())]; }
Results putItem(OpCall &c) {
  items(c)[place(c, "idx", items(c).size())] = c["el"];
  return c["self"];
}
Results append(OpCall &c) {
  checkLength(items(c).size(), 1);
  items(c).push_back(c["el"]);
  return c["self"];
}
Results extend(OpCall &c) {
  IValueList more = c["other"].items();
  checkLength(items(c).size(), more.size());
  items(c).insert(items(c).end(), more.begin(), more.end());
  return IValueList{IValue()};
}
Results insert(OpCall &c) {
  auto size = static_cast<int64_t>(items(c).size());
  int64_t at = known(whole(c, "idx"));
  at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  checkLength(items(c).size(), 1);
  items(c).insert(items(c).begin() + at, c["el"]);
  return IValueList{IValue()};
}
Results pop(OpCall &c) {
  auto at = items(c).begin() + place(c, "idx", items(c).size());
  IValue out = *at;
  items(c).erase(at);
  return out;
}
Results clear(OpCall &c) {
  items(c).clear();
  return IValueList{IValue()};
}
Results reverse(OpCall &c) {
  std::reverse(items(c).begin(), items(c).end());
  return IValueList{IValue()};
}
// range(n), the length of range(lo, hi, step), and an item of it.
Results countedList(OpCall &c) {
  const int64_t count = known(whole(c, "n"));
  checkLength(0, static_cast<size_t>(std::max<int64_t>(count, 0)));
  IValueList out;
  for (int64_t i = 0; i < count; ++i)
    out.emplace_back(i);
  return IValue::list(std::move(out));
}
Results rangeLength(OpCall &c) {
  const int64_t step = known(whole(c, "step"));
  if (step == 0)
    fail("has a range with a step of 0");
  const Polynomial span =
      step > 0 ? whole(c, "hi") - whole(c, "lo") : whole(c, "lo") - whole(c, "hi");
  const Polynomial length = floorQuotient(span + Polynomial(std::abs(step) - 1), std::abs(step));
  const std::optional<int64_t> number = length.constant();
  return IValue(number && *number < 0 ? Polynomial(0) : length);
}
Results rangeItem(OpCall &c) {
  return IValue(whole(c, "start") + whole(c, "index") * whole(c, "step"));
}
Results copyList(OpCall &c) { return IValue::list(items(c)); }
Results joinLists(OpCall &c) {
  IValueList out = items(c), more = c["other"].items();
  checkLength(out.size(), more.size());
  out.insert(out.end(), more.begin(), more.end());
  return IValue::list(std::move(out), c["self"].listRef()->isTuple);
}
Results repeatList(OpCall &c) {
  int64_t times = known(whole(c, "other"));
  IValueList out;
  for (int64_t i = 0; i < times && !items(c).empty(); ++i) {
    checkLength(out.size(), items(c).size());
    out.insert(out.end(), items(c).begin(), items(c).end());
  }
  return IValue::list(std::move(out));
}
Results sliceList(OpCall &c) {
  auto size = static_cast<int64_t>(items(c).size());
  auto bound = [&](const char *name, int64_t absent) {
    if (!c.has(name))
      return absent;
    int64_t at = known(whole(c, name));
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  int64_t step = known(whole(c, "step"));
  if (step < 1)
    fail("takes every ", step, "th item, expected a step of at least 1");
  IValueList out;
  step = std::min(step, size + 1);
  for (int64_t i = bound("start", 0); i < bound("end", size); i += step)
    out.push_back(items(c)[i]);
  return IValue::list(std::move(out));
}

// Whether two values are known to be equal.
bool areEqual(OpCall &c, const IValue &a, const IValue &b) {
  if (a.isNone() || b.isNone())
    return a.isNone() && b.isNone();
  if (a.isString() || b.isString())
    return a.isString() && b.isString() && a.string() == b.string();
  if (!isWhole(a) || !isWhole(b))
    return numberOf(c.context, a, "an item") == numberOf(c.context, b, "an item");
  Polynomial x = integerOf(c.context, a, "an item"), y = integerOf(c.context, b, "an item");
  if (std::optional<bool> equal = emit::compare(Predicate::EQ, {x}, {y}))
    return *equal;
  failOnSymbols(x - y);
}

template <bool isSame> Results compareLists(OpCall &c) {
  const IValueList &a = items(c), &b = c["other"].items();
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i)
    equal = areEqual(c, a[i], b[i]);
  return IValue(equal == isSame);
}
Results contains(OpCall &c) {
  for (const IValue &item : items(c))
    if (areEqual(c, item, c["item"]))
      return IValue(true);
  return IValue(false);
}
template <Predicate predicate> Results bestOfList(OpCall &c) {
  if (items(c).empty())
    fail("asks for the largest or smallest item of an empty list");
  IValue best = items(c)[0];
  for (const IValue &item : items(c))
    if (graph::compareScalars(predicate, numberOf(c.context, item, "an item"),
                              numberOf(c.context, best, "an item")))
      best = item;
  return best;
}
Results sumOfList(OpCall &c) {
  Polynomial out;
  for (const IValue &item : items(c))
    out += integerOf(c.context, item, "an item");
  return IValue(out);
}

constexpr const char *kNumber = "n self";
constexpr const char *kTwo = "n self, n other";
constexpr const char *kScaledNumbers = "n self, n other, n alpha=1";
constexpr const char *kAny = "any self";
constexpr const char *kTensor = "T self";
constexpr const char *kLists = "list self, list other";

constexpr OpEntry kScalarOps[] = {
    {"Bool", kAny, toBool},
    {"Float", kAny, toNumber},
    {"FloatImplicit", kAny, toNumber},
    {"Int", kAny, toInteger},
    {"IntImplicit", kAny, toInteger},
    {"ScalarImplicit", kAny, item},
    {"__and__", "b self, b other", conjunction},
    {"__contains__", "list self, any item", contains},
    {"__getitem__", "list self, i idx", takeItem},
    {"__derive_index", "i index, i start, i step", rangeItem},
    {"__is__", "any self, any other", identity<true>},
    {"__isnot__", "any self, any other", identity<false>},
    {"__not__", kAny, negation},
    {"__or__", "b self, b other", disjunction},
    {"__range_length", "i lo, i hi, i step", rangeLength},
    {"_assert_async", "any self, any assert_msg=None", nothing},
    {"_assert_scalar", "any self, any assert_msg=None", nothing},
    {"_assert_tensor_metadata",
     "any a, any size=None, any stride=None, any dtype=None, *, any device=None, any layout=None",
     nothing},
    {"_local_scalar_dense", kTensor, item},
    {"_set_item", "list self, i idx, any el", putItem},
    {"abs", kNumber, absoluteNumber},
    {"add", kScaledNumbers, addNumbers},
    {"add", kLists, joinLists},
    {"and_", "b self, b other", conjunction},
    {"append", "list self, any el", append},
    {"ceil", kNumber, rounded<std::ceil>},
    {"clear", "list self", clear},
    {"copy", "list self", copyList},
    {"dim", kTensor, rank},
    {"div", "n self, n other, str? rounding_mode=None", divide},
    {"eq", kLists, compareLists<true>},
    {"eq", "str self, str other", compareTexts<true>},
    {"eq", kTwo, numberComparison<Predicate::EQ>},
    {"exp", kNumber, real<std::exp>},
    {"extend", kLists, extend},
    {"floor", kNumber, rounded<std::floor>},
    {"floor_divide", kTwo, floorDivide},
    {"floordiv", kTwo, floorDivide},
    {"ge", kTwo, numberComparison<Predicate::GE>},
    {"gt", kTwo, numberComparison<Predicate::GT>},
    {"insert", "list self, i idx, any el", insert},
    {"is_grad_enabled", "", takesGradients},
    {"is_complex", kTensor, answer<false>},
    {"is_floating_point", kTensor, isFloatingPoint},
    {"item", kAny, item},
    {"le", kTwo, numberComparison<Predicate::LE>},
    {"len", "list self", length},
    {"len", "str self", lengthOfText},
    {"len", kTensor, lengthOfTensor},
    {"list", "list self", copyList},
    {"log", kNumber, real<std::log>},
    {"lt", kTwo, numberComparison<Predicate::LT>},
    {"mod", kTwo, modulo},
    {"mul", kTwo, mulNumbers},
    {"mul", "list self, i other", repeatList},
    {"ne", kLists, compareLists<false>},
    {"ne", "str self, str other", compareTexts<false>},
    {"ne", kTwo, numberComparison<Predicate::NE>},
    {"neg", kNumber, negate},
    {"not_", kAny, negation},
    {"numel", kTensor, count},
    {"or_", "b self, b other", disjunction},
    {"pop", "list self, i idx=-1", pop},
    {"pow", "n self, n exponent", power},
    {"pow", "n a, n b", powerOfIntegers},
    {"prim::NumToTensor", kNumber, toTensor},
    {"prim::abs", kNumber, absoluteNumber},
    {"prim::device", kTensor, device},
    {"prim::dtype", kTensor, dtype},
    {"prim::grad", kTensor, nothing},
    {"prim::is_cuda", kTensor, answer<false>},
    {"prim::is_mkldnn", kTensor, answer<false>},
    {"prim::is_nested", kTensor, answer<false>},
    {"prim::is_quantized", kTensor, answer<false>},
    {"prim::is_sparse", kTensor, answer<false>},
    {"prim::layout", kTensor, constant<0>},
    {"prim::max", kTwo, most},
    {"prim::max", "list self", bestOfList<Predicate::GT>},
    {"prim::min", kTwo, least},
    {"prim::min", "list self", bestOfList<Predicate::LT>},
    {"prim::rangelist", "i n", countedList},
    {"prim::requires_grad", kTensor, answer<false>},
    {"prim::shape", kTensor, sizes},
    {"prim::unchecked_cast", kAny, sameValue},
    {"prim::unchecked_unwrap_optional", kAny, sameValue},
    {"remainder", kTwo, modulo},
    {"reverse", "list self", reverse},
    {"round", kNumber, rounded<std::nearbyint>},
    {"size", kTensor, sizes},
    {"size", "T self, i dim", size},
    {"slice", "list self, i? start=None, i? end=None, i step=1", sliceList},
    {"sqrt", kNumber, real<std::sqrt>},
    {"storage_offset", kTensor, storageOffset},
    {"stride", kTensor, strides},
    {"stride", "T self, i dim", stride},
    {"sub", kScaledNumbers, subNumbers},
    {"sum", "list self", sumOfList},
    {"sym_constrain_range", "any size, *, any min=None, any max=None", nothing},
    {"sym_constrain_range_for_size", "any size, *, any min=None, any max=None", nothing},
    {"sym_float", kNumber, toNumber},
    {"sym_int", kNumber, toInteger},
    {"sym_max", kTwo, most},
    {"sym_min", kTwo, least},
    {"sym_not", kAny, negation},
    {"sym_numel", kTensor, count},
    {"sym_size", kTensor, sizes},
    {"sym_size", "T self, i dim", size},
    {"sym_storage_offset", kTensor, storageOffset},
    {"sym_stride", kTensor, strides},
    {"sym_stride", "T self, i dim", stride},
    {"tensor_dtype", kTensor, dtype},
    {"truediv", kTwo, trueDivide},
    {"trunc", kNumber, rounded<std::trunc>},
    {"warn", "any message, any stacklevel=2", nothing},
};

} // namespace

llvm::ArrayRef<OpEntry> scalarOps() { return kScalarOps; }

} // namespace cleave::aten
