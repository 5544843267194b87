// Structure: constants, shapes as values, ranges.
#include "compiler/frontend/emit/Indexing.h"

#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using emit::shapeOf;

Values numberConstant(NodeImport &n) {
  if (n.hasAttribute("value_float"))
    return {n.scalar(n.b.getF32Type(), n.decimal("value_float", 0))};
  if (n.hasAttribute("value_int"))
    return {n.size(n.integer("value_int", 0))};
  if (auto values = n.decimals("value_floats")) {
    Tensor list(ElementType::F32, {static_cast<int64_t>(values->size())});
    for (size_t i = 0; i < values->size(); ++i)
      list.set(static_cast<int64_t>(i), (*values)[i]);
    return {n.constant(list)};
  }
  if (auto values = n.integers("value_ints"))
    return {n.integers(*values)};
  fail("has no value that is a tensor of numbers or strings");
}

Bindings importConstant(NodeImport &n) {
  n.checkInputs(0, 0);
  if (const StoredTensor *tensor = n.tensor("value")) {
    Binding value{{n.services.tensorValue(*tensor)}};
    value.isString = tensor->dataType == kStringType;
    return {value};
  }
  if (n.hasAttribute("value_string"))
    return {n.stringBinding({{}, {n.string("value_string", "")}})};
  if (auto strings = n.strings("value_strings"))
    return {n.stringBinding({{static_cast<int64_t>(strings->size())}, *strings})};
  return {Binding{numberConstant(n)}};
}

Values importConstantOfShape(NodeImport &n) {
  n.checkInputs(1, 1);
  Sizes dims = n.sizesInput(0, "shape");
  const StoredTensor *tensor = n.tensor("value");
  if (!tensor)
    return {n.splat(dims, n.b.getF32Type(), 0)};
  tensor->element(); // fails unless it holds numbers
  if (tensor->elementCount() != 1)
    fail("has a value of ", tensor->elementCount(), " elements, expected 1");
  return {n.broadcast(n.reshape(n.services.tensorValue(*tensor), {}), dims)};
}

Values importShape(NodeImport &n) {
  n.checkInputs(1, 1);
  Sizes dims = shapeOf(n.input(0));
  int64_t rank = n.rank();
  auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = place(n.integer("start", 0)), end = place(n.integer("end", rank));
  return {n.sizes(start < end ? Sizes(dims.begin() + start, dims.begin() + end) : Sizes())};
}

Values importSize(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.size(emit::product(shapeOf(n.input(0))))};
}

Bindings importIdentity(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.binding(0)};
}

// A range of floats: start, start + step, … before limit.
Value realRange(NodeImport &n) {
  double start = n.decimalInput(0, "start"), limit = n.decimalInput(1, "limit"),
         step = n.decimalInput(2, "step");
  double count = step == 0 ? -1 : std::max(0.0, std::ceil((limit - start) / step));
  if (!(count >= 0 && count < 1e15))
    fail("counts from ", start, " to ", limit, " in steps of ", step);
  Value value = n.cast(n.iota({static_cast<int64_t>(count)}, 0, n.b.getI64Type()),
                       emit::elementOf(n.input(0)));
  if (step != 1)
    value = n.mul(value, step);
  return start == 0 ? value : n.add(value, start);
}

Values importRange(NodeImport &n) {
  n.checkInputs(3, 3);
  n.checkSameType(n.input(0), n.input(1));
  n.checkSameType(n.input(0), n.input(2));
  if (emit::isFloat(n.input(0)))
    return {realRange(n)};
  Polynomial start = n.sizeOf(n.input(0), "start"), limit = n.sizeOf(n.input(1), "limit");
  int64_t step = n.integerInput(2, "step");
  if (step == 0 || std::abs(step) > (int64_t(1) << 40))
    fail("counts in steps of ", step);
  Polynomial distance = (limit - start) * (step < 0 ? -1 : 1);
  bool isEmpty = emit::compare(emit::Predicate::LE, {distance}, {0}).value_or(false);
  Polynomial count = isEmpty ? Polynomial() : distance.ceilDividedBy(std::abs(step));
  return {emit::range(n, start, count, step, emit::elementOf(n.input(0)))};
}

constexpr OpEntry kStructureOps[] = {
    {"Constant", 1, importConstant}, {"ConstantOfShape", 9, importConstantOfShape},
    {"Identity", 1, importIdentity}, {"Range", 11, importRange},
    {"Shape", 1, importShape},       {"Size", 1, importSize},
};

} // namespace

llvm::ArrayRef<OpEntry> structureOps() { return kStructureOps; }

} // namespace cleave::onnx
