// BeforeOpset7: operators before opset 7 introduced numpy's broadcasting. The second operand is
// repeated only if the attribute `broadcast` is set, from dim `axis` of the first operand on.
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// The second operand with trailing dims of size 1, so that its first dim is dim `axis` of the first
// operand.
Value secondOperand(NodeImport &n) {
  n.checkInputs(2, 2);
  bool broadcasts = n.integer("broadcast", 0);
  Value x = n.input(0), y = n.input(1);
  if (!n.hasAttribute("axis"))
    return y;
  int64_t axis = n.axisAttribute(0);
  if (!broadcasts || axis + rankOf(y) > rankOf(x))
    fail("has an axis for operands ", showShape(shapeOf(x)), " and ", showShape(shapeOf(y)));
  Sizes dims = shapeOf(y);
  dims.resize(rankOf(x) - axis, Polynomial(1));
  return n.reshape(y, dims);
}

template <typename Op> Values oldBinary(NodeImport &n) {
  Value y = secondOperand(n);
  return {broadcastBinary<Op>(n, n.input(0), y)};
}

template <typename Op> Values oldLogical(NodeImport &n) {
  Value y = secondOperand(n);
  n.checkBool(y, "operands");
  return {broadcastBinary<Op>(n, n.input(0), y)};
}

template <Predicate predicate> Values oldCompare(NodeImport &n) {
  Value y = secondOperand(n);
  return {broadcastCompare(n, predicate, n.input(0), y)};
}

Values importOldPow(NodeImport &n) {
  Value y = secondOperand(n);
  return {power(n, n.input(0), y)};
}

Values importOldGemm(NodeImport &n) {
  n.checkInputs(3, 3);
  n.ignore({"broadcast"}); // a smaller summand is broadcast in any case
  GemmOptions options;
  options.transposeLhs = n.integer("transA", 0);
  options.transposeRhs = n.integer("transB", 0);
  options.alpha = n.decimal("alpha", 1);
  options.beta = n.decimal("beta", 1);
  return {gemm(n, n.input(0), n.input(1), n.input(2), options)};
}

// One slope for all channels, or one per channel.
Values importOldPRelu(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0), slope = n.input(1);
  if (rankOf(slope) == 1 && rankOf(x) > 2) {
    Sizes dims(rankOf(x) - 1, Polynomial(1));
    dims[0] = n.dim(slope, 0);
    slope = n.reshape(slope, dims);
  }
  return {prelu(n, x, slope)};
}

constexpr OpEntry kBeforeOpset7Ops[] = {
    {"Add", 6, oldBinary<graph::AddOp>},
    {"And", 6, oldLogical<graph::AndOp>},
    {"Div", 6, oldBinary<graph::DivOp>},
    {"Equal", 6, oldCompare<Predicate::EQ>},
    {"Gemm", 6, importOldGemm},
    {"Greater", 6, oldCompare<Predicate::GT>},
    {"Less", 6, oldCompare<Predicate::LT>},
    {"Mul", 6, oldBinary<graph::MulOp>},
    {"Or", 6, oldLogical<graph::OrOp>},
    {"PRelu", 6, importOldPRelu},
    {"Pow", 6, importOldPow},
    {"Sub", 6, oldBinary<graph::SubOp>},
    {"Xor", 6, oldLogical<graph::XorOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> beforeOpset7Ops() { return kBeforeOpset7Ops; }

} // namespace cleave::onnx
