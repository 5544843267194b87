// Sequences of tensors and optional values. Their structure is known while importing; only the
// elements are data.
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

Bindings sequenceOf(Values values) {
  return {Binding{.values = std::move(values), .isSequence = true}};
}

// The position at input i in a sequence of `count` elements; `absent` if it is left out.
int64_t position(NodeImport &n, size_t i, int64_t count, int64_t absent) {
  if (!n.hasInput(i))
    return absent;
  return n.axis(n.integerInput(i, "position"), count, "position");
}

Values importAt(NodeImport &n) {
  n.checkInputs(2, 2);
  const Values &sequence = n.sequence(0);
  return {sequence[position(n, 1, static_cast<int64_t>(sequence.size()), 0)]};
}

Bindings importConstruct(NodeImport &n) { return sequenceOf(n.allInputs()); }

Bindings importEmpty(NodeImport &n) {
  n.checkInputs(0, 0);
  n.ignore({"dtype"});
  return sequenceOf({});
}

// Inserts before the element at the position; by default at the end.
Bindings importInsert(NodeImport &n) {
  n.checkInputs(2, 3);
  Values values = n.sequence(0);
  auto count = static_cast<int64_t>(values.size()), at = count;
  if (n.hasInput(2)) {
    at = n.integerInput(2, "position");
    at = at == count ? count : n.axis(at, count, "position");
  }
  values.insert(values.begin() + at, n.input(1));
  return sequenceOf(values);
}

Bindings importErase(NodeImport &n) {
  n.checkInputs(1, 2);
  Values values = n.sequence(0);
  auto count = static_cast<int64_t>(values.size());
  if (count == 0)
    fail("takes an element from an empty sequence");
  values.erase(values.begin() + position(n, 1, count, count - 1));
  return sequenceOf(values);
}

Values importLength(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.size(static_cast<int64_t>(n.sequence(0).size()))};
}

Values importConcatFromSequence(NodeImport &n) {
  n.checkInputs(1, 1);
  const Values &pieces = n.sequence(0);
  if (pieces.empty())
    fail("joins an empty sequence");
  bool stacks = n.integer("new_axis", 0);
  int64_t axis = n.axis(n.requiredInteger("axis"), emit::rankOf(pieces[0]) + stacks);
  return {stacks ? emit::stack(n, pieces, axis) : n.concat(pieces, axis)};
}

// -- optional values ------------------------------------------------------------------------------

Bindings importOptional(NodeImport &n) {
  n.checkInputs(0, 1);
  n.ignore({"type"});
  return {n.binding(0)};
}

Bindings importGetElement(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.binding(0)};
}

Values importHasElement(NodeImport &n) {
  n.checkInputs(0, 1);
  bool hasOne = n.inputCount() > 0 && !n.binding(0).isNothing();
  return {n.scalar(n.b.getI1Type(), hasOne)};
}

constexpr OpEntry kSequencesOps[] = {
    {"ConcatFromSequence", 11, importConcatFromSequence},
    {"Optional", 15, importOptional},
    {"OptionalGetElement", 15, importGetElement},
    {"OptionalHasElement", 15, importHasElement},
    {"SequenceAt", 11, importAt},
    {"SequenceConstruct", 11, importConstruct},
    {"SequenceEmpty", 11, importEmpty},
    {"SequenceErase", 11, importErase},
    {"SequenceInsert", 11, importInsert},
    {"SequenceLength", 11, importLength},
};

} // namespace

llvm::ArrayRef<OpEntry> sequenceOps() { return kSequencesOps; }

} // namespace cleave::onnx
