// New tensors: filled, ranges, from lists; and conversions of element types.
#include "compiler/frontend/aten/OpCall.h"

#include <cmath>

namespace cleave::aten {
namespace {

// -- filled ---------------------------------------------------------------------------------------
Array fill(OpCall &c, const Sizes &shape, ElementType type, const IValue &value) {
  return c.e.broadcast(c.readAs(value, type), shape);
}

template <int number> Results filledNew(OpCall &c) {
  return c.filled(c.integers("size"), c.dtype().value_or(c.defaultFloat()), number);
}
template <int number> Results filledLike(OpCall &c) {
  Array like = c.tensor("self");
  return c.filled(shapeOf(like), c.dtype().value_or(typeOf(like)), number);
}
template <int number> Results filledNewLike(OpCall &c) {
  return c.filled(c.integers("size"), c.dtype().value_or(typeOf(c.tensor("self"))), number);
}

Results full(OpCall &c) {
  const IValue &value = c["fill_value"];
  return fill(c, c.integers("size"), c.dtype().value_or(c.numberType(value)), value);
}
Results fullLike(OpCall &c) {
  Array like = c.tensor("self");
  return fill(c, shapeOf(like), c.dtype().value_or(typeOf(like)), c["fill_value"]);
}
Results newFull(OpCall &c) {
  return fill(c, c.integers("size"), c.dtype().value_or(typeOf(c.tensor("self"))), c["fill_value"]);
}

Results fillWith(OpCall &c) {
  Array x = c.tensor("self");
  return fill(c, shapeOf(x), typeOf(x), c["value"]);
}
Results zero(OpCall &c) { return c.e.splat(c.tensor("self"), 0); }
// The source's elements in the first tensor's type and shape.
Results copy(OpCall &c) {
  Array x = c.tensor("self");
  return c.e.broadcast(c.cast(c.tensor("src"), typeOf(x)), shapeOf(x));
}

Results scalarTensor(OpCall &c) {
  const IValue &value = c["s"];
  ElementType type = c.dtype().value_or(c.defaultFloat());
  if (value.isInt() && type == ElementType::I64)
    return IValue(TensorState::ofNumber(value.integer()));
  return c.readAs(value, type);
}

// -- counted --------------------------------------------------------------------------------------
constexpr double kMostSteps = 4611686018427387904.0; // 2^62

Results arangeFrom(OpCall &c, const IValue &start, const IValue &end, const IValue &step) {
  bool whole = !start.isFloat() && !end.isFloat() && !step.isFloat();
  ElementType type = c.dtype().value_or(whole ? ElementType::I64 : c.defaultFloat());
  double by = numberOf(c.context, step, "'step'");
  if (by == 0)
    fail("counts in steps of 0");
  Polynomial count;
  if (whole) {
    Polynomial span = integerOf(c.context, end, "'end'") - integerOf(c.context, start, "'start'");
    if (!(std::abs(by) <= kMostSteps) || by != std::trunc(by))
      fail("counts in steps of ", by);
    auto stride = static_cast<int64_t>(by);
    count = stride > 0 ? span.ceilDividedBy(stride) : (Polynomial(0) - span).ceilDividedBy(-stride);
  } else {
    double span = numberOf(c.context, end, "'end'") - numberOf(c.context, start, "'start'");
    double steps = std::ceil(span / by);
    if (!(std::abs(steps) <= kMostSteps))
      fail("counts to ", steps);
    count = static_cast<int64_t>(steps);
  }
  if (count.constant().value_or(0) < 0)
    fail("counts in the wrong direction");
  Array out = c.e.iota({count}, 0, c.mlirType(type));
  if (by != 1)
    out = c.e.mul(out, by);
  bool fromZero =
      start.isInt() ? start.integer() == Polynomial(0) : start.isFloat() && start.number() == 0;
  return fromZero ? out : c.e.add(out, c.e.broadcast(c.readAs(start, type), {count}));
}

Results arange(OpCall &c) {
  return arangeFrom(c, IValue(int64_t(0)), c["end"], IValue(int64_t(1)));
}
Results arangeStart(OpCall &c) { return arangeFrom(c, c["start"], c["end"], c["step"]); }

Results linspace(OpCall &c) {
  double start = c.number("start"), end = c.number("end");
  int64_t steps = c.plainInteger("steps");
  if (steps < 0 || steps > (1 << 24))
    fail("counts ", steps, " steps");
  ElementType type = c.dtype().value_or(c.defaultFloat());
  Array index = c.e.iota({steps}, 0, c.mlirType(c.floatType(type)));
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return c.cast(c.e.add(c.e.mul(index, step), start), type);
}

Array eyeOf(OpCall &c, const Polynomial &rows, const Polynomial &columns) {
  Sizes shape{rows, columns};
  mlir::Type index = c.mlirType(ElementType::I32);
  Array hit =
      c.e.compare(emit::Predicate::EQ, c.e.iota(shape, 0, index), c.e.iota(shape, 1, index));
  return c.cast(hit, c.dtype().value_or(c.defaultFloat()));
}
Results eye(OpCall &c) {
  return eyeOf(c, c.integer("n"), c.has("m") ? c.integer("m") : c.integer("n"));
}

Results meshgrid(OpCall &c) {
  Arrays axes = c.tensors("tensors");
  bool swapped = c.has("indexing") && c.string("indexing") == "xy" && axes.size() >= 2;
  if (swapped)
    std::swap(axes[0], axes[1]);
  Sizes shape;
  for (Array axis : axes)
    shape.push_back(emit::product(shapeOf(axis)));
  emit::Values grids;
  for (size_t i = 0; i < axes.size(); ++i) {
    Sizes column(axes.size(), 1);
    column[i] = shape[i];
    grids.push_back(c.e.broadcast(c.e.reshape(axes[i], column), shape));
  }
  if (swapped)
    std::swap(grids[0], grids[1]);
  IValueList out;
  for (Array grid : grids)
    out.push_back(TensorState::create(grid));
  return IValue::list(std::move(out));
}

// -- from lists -----------------------------------------------------------------------------------
constexpr size_t kMostNumbers = 1 << 16; // each is an op

// The numbers of a nested list, row-major, and its shape.
void gather(OpCall &c, const IValue &value, size_t depth, Sizes &shape, IValueList &numbers) {
  if (depth > emit::kMaxRank)
    fail("has lists nested more than ", emit::kMaxRank, " deep");
  if (!value.isList()) {
    numbers.push_back(value);
    if (numbers.size() > kMostNumbers)
      fail("has more than ", kMostNumbers, " numbers in lists");
    return;
  }
  if (depth > 0 && value.items().empty())
    fail("has a list without numbers in a list");
  auto size = static_cast<int64_t>(value.items().size());
  if (depth == shape.size())
    shape.push_back(size);
  if (shape[depth] != Polynomial(size))
    fail("has lists of different lengths in one dim");
  for (const IValue &item : value.items())
    gather(c, item, depth + 1, shape, numbers);
}

Results fromList(OpCall &c) {
  Sizes shape;
  IValueList numbers;
  gather(c, c["data"], 0, shape, numbers);
  ElementType type =
      c.dtype().value_or(numbers.empty() ? c.defaultFloat() : promotedType(c, numbers));
  if (shape.empty() && numbers[0].isInt() && type == ElementType::I64)
    return IValue(TensorState::ofNumber(numbers[0].integer()));
  emit::Values elements;
  for (const IValue &number : numbers)
    elements.push_back(c.e.reshape(c.readAs(number, type), {1}));
  if (elements.empty())
    return c.filled(shape, type, 0);
  Array all = elements.size() == 1 ? elements[0] : c.e.concat(elements, 0);
  return c.e.reshape(all, shape);
}

// -- other element types --------------------------------------------------------------------------
// Returns the same handle if nothing changes.
Results converted(OpCall &c, std::optional<ElementType> type, bool copies = false) {
  const TensorRef &self = c.handle("self");
  if (self->number() && (!type || *type == ElementType::I64))
    return c["self"];
  Array x = c.tensor("self");
  if (!type || typeOf(x) == *type)
    return copies ? Results(x) : Results(c["self"]);
  return c.cast(x, *type);
}
Results to(OpCall &c) { return converted(c, c.dtype(), c.boolean("copy")); }
Results toOther(OpCall &c) { return converted(c, typeOf(c.tensor("other"))); }
Results toCopy(OpCall &c) { return converted(c, c.dtype(), /*copies=*/true); }
template <ElementType type> Results as(OpCall &c) { return converted(c, type); }
Results same(OpCall &c) { return c["self"]; }

#define CLEAVE_PLACE                                                                               \
  "any layout=None, any device=None, any pin_memory=None, any memory_format=None, any names=None"

constexpr const char *kSize = "i[] size, *, i? dtype=None, " CLEAVE_PLACE;
constexpr const char *kLike = "T self, *, i? dtype=None, " CLEAVE_PLACE;
constexpr const char *kNew = "T self, i[] size, *, i? dtype=None, " CLEAVE_PLACE;

constexpr OpEntry kCreationOps[] = {
    {"_cast_Float", "T self, b non_blocking=False", as<ElementType::F32>},
    {"_cast_Long", "T self, b non_blocking=False", as<ElementType::I64>},
    {"_to_copy",
     "T self, *, i? dtype=None, any layout=None, any device=None, any pin_memory=None, "
     "b non_blocking=False, any memory_format=None",
     toCopy},
    {"arange", "s end, *, i? dtype=None, " CLEAVE_PLACE, arange},
    {"arange", "s start, s end, s step=1, *, i? dtype=None, " CLEAVE_PLACE, arangeStart},
    {"arange", "s start, s end, s step, i? dtype, " CLEAVE_PLACE, arangeStart},
    {"bool", "T self", as<ElementType::Bool>},
    {"copy", "T self, num src, b non_blocking=False", copy},
    {"cpu", "T self", same},
    {"cuda", "T self", same},
    {"double", "T self", as<ElementType::F64>},
    {"empty", kSize, filledNew<0>},
    {"empty_like", kLike, filledLike<0>},
    {"empty_permuted", "i[] size, i[] physical_layout, *, i? dtype=None, " CLEAVE_PLACE,
     filledNew<0>},
    {"empty_strided", "i[] size, i[] stride, *, i? dtype=None, " CLEAVE_PLACE, filledNew<0>},
    {"eye", "i n, i? m=None, *, i? dtype=None, " CLEAVE_PLACE, eye},
    {"fill", "T self, num value", fillWith},
    {"float", "T self", as<ElementType::F32>},
    {"full", "i[] size, num fill_value, *, i? dtype=None, " CLEAVE_PLACE, full},
    {"full_like", "T self, num fill_value, *, i? dtype=None, " CLEAVE_PLACE, fullLike},
    {"half", "T self", as<ElementType::F16>},
    {"bfloat16", "T self", as<ElementType::BF16>},
    {"int", "T self", as<ElementType::I32>},
    {"linspace", "s start, s end, i steps, *, i? dtype=None, " CLEAVE_PLACE, linspace},
    {"long", "T self", as<ElementType::I64>},
    {"meshgrid", "T[] tensors, *, str? indexing=None", meshgrid},
    {"new_empty", kNew, filledNewLike<0>},
    {"new_empty_strided", "T self, i[] size, i[] stride, *, i? dtype=None, " CLEAVE_PLACE,
     filledNewLike<0>},
    {"new_full", "T self, i[] size, num fill_value, *, i? dtype=None, " CLEAVE_PLACE, newFull},
    {"new_ones", kNew, filledNewLike<1>},
    {"new_zeros", kNew, filledNewLike<0>},
    {"ones", kSize, filledNew<1>},
    {"ones_like", kLike, filledLike<1>},
    {"scalar_tensor", "s s, *, i? dtype=None, " CLEAVE_PLACE, scalarTensor},
    {"tensor", "any data, *, i? dtype=None, any device=None, b requires_grad=False", fromList},
    {"to", "T self, i? dtype, b non_blocking=False, b copy=False, any memory_format=None", to},
    {"to", "T self, T other, b non_blocking=False, b copy=False, any memory_format=None", toOther},
    {"to",
     "T self, any device, i? dtype=None, b non_blocking=False, b copy=False, any "
     "memory_format=None",
     to},
    {"to",
     "T self, *, i? dtype=None, any layout=None, any device=None, any pin_memory=None, "
     "b non_blocking=False, b copy=False, any memory_format=None",
     to},
    {"type_as", "T self, T other", toOther},
    {"zero", "T self", zero},
    {"zeros", kSize, filledNew<0>},
    {"zeros_like", kLike, filledLike<0>},
};

} // namespace

llvm::ArrayRef<OpEntry> creationOps() { return kCreationOps; }

} // namespace cleave::aten
