// Structure: constants, shapes as values, counting, sequences, branches.
#include "compiler/frontend/onnx/NodeImport.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using namespace graph;

Values importConstant(NodeImport &n) {
  n.checkInputs(0, 0);
  if (const StoredTensor *tensor = n.tensor("value"))
    return {n.services.tensorValue(n.b, n.loc, *tensor)};
  if (n.hasAttribute("value_float"))
    return {n.constant({}, ElementType::F32, {n.number("value_float", 0)})};
  if (n.hasAttribute("value_int"))
    return {n.reshape(n.constantIntegers({n.integer("value_int", 0)}), {})};
  if (auto values = n.numbers("value_floats"))
    return {n.constant({static_cast<int64_t>(values->size())}, ElementType::F32, *values)};
  if (auto values = n.integers("value_ints"))
    return {n.constantIntegers(*values)};
  fail("has no value that is a tensor of numbers");
}

Values importConstantOfShape(NodeImport &n) {
  n.checkInputs(1, 1);
  Dims dims = n.constantIntegers(0, "shape");
  const StoredTensor *tensor = n.tensor("value");
  if (!tensor)
    return {buildSplat(n.b, n.loc, n.type(dims, n.b.getF32Type()), 0)};
  if (tensor->elementCount() != 1)
    fail("has a value of " + std::to_string(tensor->elementCount()) + " elements, expected 1");
  Value value = n.reshape(n.services.tensorValue(n.b, n.loc, *tensor), {});
  n.type(dims, elementOf(value));
  return {n.broadcast(value, dims)};
}

Values importShape(NodeImport &n) {
  n.checkInputs(1, 1);
  Dims dims = dimsOf(n.input(0));
  auto rank = static_cast<int64_t>(dims.size());
  auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = place(n.integer("start", 0)), end = place(n.integer("end", rank));
  return {
      n.constantIntegers(start < end ? Dims(dims.begin() + start, dims.begin() + end) : Dims())};
}

Values importSize(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.reshape(n.constantIntegers({product(dimsOf(n.input(0)))}), {})};
}

Values importIdentity(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.input(0)};
}

// start, start + step, … before limit.
Values importRange(NodeImport &n) {
  n.checkInputs(3, 3);
  n.checkSameType(n.input(0), n.input(1));
  n.checkSameType(n.input(0), n.input(2));
  double start = n.constantNumber(0, "start"), limit = n.constantNumber(1, "limit"),
         step = n.constantNumber(2, "step");
  double count = step == 0 ? -1 : std::max(0.0, std::ceil((limit - start) / step));
  if (!(count >= 0 && count < 1e15))
    fail("counts from " + std::to_string(start) + " to " + std::to_string(limit) + " in steps of " +
         std::to_string(step));
  mlir::Type element = elementOf(n.input(0));
  auto type = n.type({static_cast<int64_t>(count)}, n.b.getI64Type());
  Value value = n.cast(IotaOp::create(n.b, n.loc, type, 0), element);
  if (step != 1)
    value = MulOp::create(n.b, n.loc, value, n.splat(value, step));
  if (start != 0)
    value = AddOp::create(n.b, n.loc, value, n.splat(value, start));
  return {value};
}

Values importSequenceAt(NodeImport &n) {
  n.checkInputs(2, 2);
  const Values &sequence = n.sequence(0);
  int64_t at =
      n.axis(n.constantInteger(1, "position"), static_cast<int64_t>(sequence.size()), "position");
  return {sequence[at]};
}

Values importSequenceConstruct(NodeImport &n) { return n.allInputs(); }

Values importConcatFromSequence(NodeImport &n) {
  n.checkInputs(1, 1);
  Values pieces = n.sequence(0);
  if (pieces.empty())
    fail("joins an empty sequence");
  bool stack = n.integer("new_axis", 0);
  int64_t rank = rankOf(pieces[0]), axis = n.axis(n.requiredInteger("axis"), rank + stack);
  for (Value &piece : pieces) {
    Dims dims = dimsOf(piece);
    if (dims.size() != static_cast<size_t>(rank))
      fail("joins tensors with different numbers of dims");
    if (stack) {
      dims.insert(dims.begin() + axis, 1);
      piece = n.reshape(piece, dims);
    }
    Dims expected = dimsOf(pieces[0]);
    expected[axis] = dims[axis];
    if (expected != dims || elementOf(piece) != elementOf(pieces[0]))
      fail("joins tensors whose shapes or types differ");
  }
  return {pieces.size() == 1 ? pieces[0] : Value(ConcatOp::create(n.b, n.loc, pieces, axis))};
}

// A branch that is decided while importing: exporters write them around shapes.
Values importIf(NodeImport &n) {
  n.checkInputs(1, 1);
  bool condition = n.constantNumber(0, "condition") != 0;
  const Graph &yes = n.graph("then_branch"), &no = n.graph("else_branch");
  Values results;
  for (const Binding &output : n.services.importGraph(n.b, condition ? yes : no)) {
    if (output.isSequence || output.values.size() != 1)
      fail("gives a sequence, which Cleave does not import");
    results.push_back(output.values[0]);
  }
  return results;
}

constexpr OpEntry kOps[] = {
    {"ConcatFromSequence", 11, importConcatFromSequence},
    {"Constant", 1, importConstant},
    {"ConstantOfShape", 9, importConstantOfShape},
    {"Identity", 1, importIdentity},
    {"If", 1, importIf},
    {"Range", 11, importRange},
    {"SequenceAt", 11, importSequenceAt},
    {"SequenceConstruct", 11, importSequenceConstruct, /*givesSequence=*/true},
    {"Shape", 1, importShape},
    {"Size", 1, importSize},
};

} // namespace

llvm::ArrayRef<OpEntry> structureOps() { return kOps; }

} // namespace cleave::onnx
