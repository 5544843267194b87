// Bitwise operators on integers.
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

template <typename Op> Values bitwise(NodeImport &n) {
  n.checkInputs(2, 2);
  n.checkInteger(n.input(0));
  return {broadcastBinary<Op>(n, n.input(0), n.input(1))};
}

Values importBitwiseNot(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkInteger(n.input(0));
  return {n.unary<graph::NotOp>(n.input(0))};
}

Values importShift(NodeImport &n) {
  std::string direction = n.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail("attribute 'direction' is '", direction, "', expected LEFT or RIGHT");
  return direction == "LEFT" ? bitwise<graph::ShiftLeftOp>(n) : bitwise<graph::ShiftRightOp>(n);
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

constexpr OpEntry kBitwiseOps[] = {
    {"BitCast", 26, importBitCast},
    {"BitShift", 11, importShift},
    {"BitwiseAnd", 18, bitwise<graph::AndOp>},
    {"BitwiseNot", 18, importBitwiseNot},
    {"BitwiseOr", 18, bitwise<graph::OrOp>},
    {"BitwiseXor", 18, bitwise<graph::XorOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> bitwiseOps() { return kBitwiseOps; }

} // namespace cleave::onnx
