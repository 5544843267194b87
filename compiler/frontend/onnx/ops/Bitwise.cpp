// Bitwise operators on integers.
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

template <typename Op> Values binary(NodeImport &n) {
  n.checkInputs(2, 2);
  n.checkInteger(n.input(0));
  return {broadcastBinary<Op>(n, n.input(0), n.input(1))};
}

Values importNot(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkInteger(n.input(0));
  return {n.unary<graph::NotOp>(n.input(0))};
}

Values importShift(NodeImport &n) {
  std::string direction = n.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail("attribute 'direction' is '", direction, "', expected LEFT or RIGHT");
  return direction == "LEFT" ? binary<graph::ShiftLeftOp>(n) : binary<graph::ShiftRightOp>(n);
}

// Reinterprets the bits. Integers of the same width are reinterpreted in the step, floats only
// where their value is known while importing.
Values importBitCast(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  auto to = static_cast<int32_t>(n.requiredInteger("to"));
  std::optional<ElementType> type = elementTypeOf(to);
  ElementType from = graph::toElementType(elementOf(x));
  if (!type || narrowType(to) || byteSize(*type) != byteSize(from))
    fail("takes the bits of ", typeNameOf(x), " as ", dataTypeName(to),
         ", expected one of the same width");
  if (!isFloat(x) && !cleave::isFloat(*type))
    return {n.cast(x, graph::fromElementType(*type, n.b.getContext()))};
  Tensor known = n.tensorInput(0, "operand");
  mlir::DenseElementsAttr bits = graph::toAttribute(known, n.b.getContext());
  mlir::Type element = graph::fromElementType(*type, n.b.getContext());
  return {graph::ConstantOp::create(n.b, n.loc, bits.bitcast(element))};
}

constexpr OpEntry kOps[] = {
    {"BitCast", 26, importBitCast},           {"BitShift", 11, importShift},
    {"BitwiseAnd", 18, binary<graph::AndOp>}, {"BitwiseNot", 18, importNot},
    {"BitwiseOr", 18, binary<graph::OrOp>},   {"BitwiseXor", 18, binary<graph::XorOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> bitwiseOps() { return kOps; }

} // namespace cleave::onnx
