// Quantized products of the domain com.microsoft: weights of few bits, and operands quantized on the way.
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Quantization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// Bytes of several numbers each, the first in the lowest bits, taken apart along the last dim; `count` of them.
Value takeApart(NodeImport &n, Value bytes, int64_t bits, const Polynomial &count) {
  n.checkInteger(bytes, "packed numbers");
  if (bits == 8)
    return bytes;
  Values parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    Value moved = n.binary<graph::ShiftRightOp>(bytes, n.splat(bytes, static_cast<double>(shift)));
    Value part =
        n.binary<graph::AndOp>(moved, n.splat(bytes, static_cast<double>((1 << bits) - 1)));
    parts.push_back(n.insertDim(part, rankOf(bytes)));
  }
  Shape dims = shapeOf(bytes);
  dims.back() = dims.back() * (8 / bits);
  int64_t last = rankOf(bytes) - 1;
  return n.slice(n.reshape(n.concat(parts, last + 1), dims), last, 0, count);
}

// Zero points of all blocks, [outputs, blocks]: given as numbers, packed like the weight, or the middle of the range.
Value zeroPoints(NodeImport &n, Value scales, int64_t bits) {
  if (!n.hasInput(3))
    return n.splat(scales, 1 << (bits - 1));
  Value zeros = n.input(3);
  if (isFloat(zeros))
    return n.reshape(zeros, shapeOf(scales));
  Shape dims = shapeOf(scales);
  int64_t perByte = 8 / bits;
  int64_t bytes = (n.number(dims[1], "number of blocks") + perByte - 1) / perByte;
  return n.cast(takeApart(n, n.reshape(zeros, {dims[0], bytes}), bits, dims[1]), elementOf(scales));
}

// x times the transpose of a weight [N, K] of `bits` bits, with a scale and zero point per block of K.
Values importMatMulNBits(NodeImport &n) {
  n.checkInputs(3, 6);
  n.ignore({"accuracy_level"}); // how exact it has to be
  int64_t bits = n.integer("bits", 4), block = n.requiredInteger("block_size");
  int64_t outputs = n.requiredInteger("N"), inputs = n.requiredInteger("K");
  if (n.integer("weight_prepacked", 0) || n.hasInput(4) || (bits != 2 && bits != 4 && bits != 8))
    fail("has a weight of " + std::to_string(bits) +
         " bits, or one in another order (weight_prepacked, g_idx), "
         "which Cleave does not import");
  constexpr int64_t most = int64_t(1) << 31;
  if (block < 1 || outputs < 1 || inputs < 1 || std::max({block, outputs, inputs}) > most)
    fail("has a weight of " + std::to_string(outputs) + " by " + std::to_string(inputs) +
         " in blocks of " + std::to_string(block));
  Value x = n.input(0);
  n.checkFloat(x);
  int64_t blocks = (inputs + block - 1) / block;
  Shape apart{outputs, blocks, block}, perBlock{outputs, blocks, 1};
  Value packed = n.reshape(n.input(1), {outputs, blocks, block * bits / 8});
  Value scales = n.reshape(n.input(2), {outputs, blocks});
  Value numbers = n.cast(takeApart(n, packed, bits, block), elementOf(x));
  Value zeros = n.broadcast(n.reshape(zeroPoints(n, scales, bits), perBlock), apart);
  Value weight = n.mul(n.sub(numbers, zeros), n.broadcast(n.reshape(scales, perBlock), apart));
  weight = n.slice(n.reshape(weight, {outputs, blocks * block}), 1, 0, inputs);
  return {linear(n, x, weight, n.optionalInput(5))};
}

// A weight in whole numbers, [inputs, outputs], with a scale for all or per output.
Value realWeight(NodeImport &n, Value weight, Value scale, Value zero) {
  Value real = n.cast(weight, elementOf(scale));
  auto spread = [&](Value factor) {
    return perElement(n, n.cast(factor, elementOf(scale)), weight, rankOf(weight) - 1, 0);
  };
  if (zero)
    real = n.sub(real, spread(zero));
  return n.mul(real, spread(scale));
}

Value withBias(NodeImport &n, Value x, Value bias) {
  return bias ? n.add(x, n.broadcast(bias, shapeOf(x))) : x;
}

// x, rounded to 256 steps of its own range, times a quantized weight.
Values importDynamicQuantizeMatMul(NodeImport &n) {
  n.checkInputs(3, 5);
  DynamicallyQuantized q = quantizeDynamically(n, n.input(0));
  Value x = dequantize(n, q.values, q.scale, q.zero, 0);
  Value product = matmul(n, x, realWeight(n, n.input(1), n.input(2), n.optionalInput(3)));
  return {withBias(n, product, n.optionalInput(4))};
}

// Both operands quantized: a, b, their scales, their zero points, a bias.
Values importMatMulIntegerToFloat(NodeImport &n) {
  n.checkInputs(4, 7);
  Value a = realWeight(n, n.input(0), n.input(2), n.optionalInput(4));
  Value b = realWeight(n, n.input(1), n.input(3), n.optionalInput(5));
  return {withBias(n, matmul(n, a, b), n.optionalInput(6))};
}

constexpr OpEntry kOps[] = {
    {"com.microsoft:DynamicQuantizeMatMul", 1, importDynamicQuantizeMatMul},
    {"com.microsoft:MatMulIntegerToFloat", 1, importMatMulIntegerToFloat},
    {"com.microsoft:MatMulNBits", 1, importMatMulNBits},
};

} // namespace

llvm::ArrayRef<OpEntry> contribQuantizedOps() { return kOps; }

} // namespace cleave::onnx
