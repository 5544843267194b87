// Quantized matrix products of the domain com.microsoft: weights of few bits, and operands that are
// quantized dynamically.
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Quantization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// Inputs of MatMulNBits. Blocks are of `block_size` elements along K.
namespace n_bits_inputs {
enum Input : size_t {
  kData,       // [..., K]
  kWeight,     // [N, blocks, bytes of a block]
  kScales,     // [N, blocks]
  kZeroPoints, // [N, blocks], or packed like the weight
  kGroupIndex, // not imported
  kBias,       // [N]
};
} // namespace n_bits_inputs

// Inputs of MatMulIntegerToFloat.
namespace to_float_inputs {
enum Input : size_t { kA, kB, kScaleA, kScaleB, kZeroA, kZeroB, kBias };
}

// Unpacks bytes that hold several numbers each, the first in the lowest bits, along the last dim;
// returns the first `count` numbers.
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
  Sizes dims = shapeOf(bytes);
  dims.back() = dims.back() * (8 / bits);
  int64_t last = rankOf(bytes) - 1;
  return n.slice(n.reshape(n.concat(parts, last + 1), dims), last, 0, count);
}

// Zero points of all blocks, [outputs, blocks]: given as numbers or packed like the weight; the
// middle of the range if left out.
Value zeroPoints(NodeImport &n, Value scales, int64_t bits) {
  using namespace n_bits_inputs;
  if (!n.hasInput(kZeroPoints))
    return n.splat(scales, 1 << (bits - 1));
  Value zeros = n.input(kZeroPoints);
  if (isFloat(zeros))
    return n.reshape(zeros, shapeOf(scales));
  Sizes dims = shapeOf(scales);
  int64_t perByte = 8 / bits;
  int64_t bytes = (n.number(dims[1], "number of blocks") + perByte - 1) / perByte;
  return n.cast(takeApart(n, n.reshape(zeros, {dims[0], bytes}), bits, dims[1]), elementOf(scales));
}

// x times the transpose of a weight [N, K] of `bits` bits per element, with a scale and a zero
// point per block of K.
Values importMatMulNBits(NodeImport &n) {
  using namespace n_bits_inputs;
  n.checkInputs(3, 6);
  n.ignore({"accuracy_level"}); // the least precision of the computation
  int64_t bits = n.integer("bits", 4), block = n.requiredInteger("block_size");
  int64_t outputs = n.requiredInteger("N"), inputs = n.requiredInteger("K");
  bool isReordered = n.integer("weight_prepacked", 0) || n.hasInput(kGroupIndex);
  if (isReordered || (bits != 2 && bits != 4 && bits != 8))
    fail("has a weight of ", bits,
         " bits, or one in another order (weight_prepacked, g_idx), which Cleave does not import");
  constexpr int64_t most = int64_t(1) << 31;
  if (block < 1 || outputs < 1 || inputs < 1 || std::max({block, outputs, inputs}) > most)
    fail("has a weight of ", outputs, " by ", inputs, " in blocks of ", block);
  Value x = n.input(kData);
  n.checkFloat(x);
  int64_t blocks = (inputs + block - 1) / block;
  Sizes apart{outputs, blocks, block}, perBlock{outputs, blocks, 1};
  Value packed = n.reshape(n.input(kWeight), {outputs, blocks, block * bits / 8});
  Value scales = n.reshape(n.input(kScales), {outputs, blocks});
  Value numbers = n.cast(takeApart(n, packed, bits, block), elementOf(x));
  Value zeros = n.broadcast(n.reshape(zeroPoints(n, scales, bits), perBlock), apart);
  Value weight = n.mul(n.sub(numbers, zeros), n.broadcast(n.reshape(scales, perBlock), apart));
  weight = n.slice(n.reshape(weight, {outputs, blocks * block}), 1, 0, inputs);
  return {linear(n, x, weight, n.optionalInput(kBias))};
}

// The weight [inputs, outputs] of integers as real numbers. Scale and zero point are scalars, or
// one per output; the zero point may be null.
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

// x, quantized to 256 steps of its own range, times a quantized weight.
Values importDynamicQuantizeMatMul(NodeImport &n) {
  constexpr size_t kWeight = 1, kScale = 2, kZeroPoint = 3, kBias = 4;
  n.checkInputs(3, 5);
  DynamicallyQuantized q = quantizeDynamically(n, n.input(0));
  Value x = dequantize(n, q.values, q.scale, q.zero, 0);
  Value weight = realWeight(n, n.input(kWeight), n.input(kScale), n.optionalInput(kZeroPoint));
  return {withBias(n, matmul(n, x, weight), n.optionalInput(kBias))};
}

// Product of two quantized operands.
Values importMatMulIntegerToFloat(NodeImport &n) {
  using namespace to_float_inputs;
  n.checkInputs(4, 7);
  Value a = realWeight(n, n.input(kA), n.input(kScaleA), n.optionalInput(kZeroA));
  Value b = realWeight(n, n.input(kB), n.input(kScaleB), n.optionalInput(kZeroB));
  return {withBias(n, matmul(n, a, b), n.optionalInput(kBias))};
}

constexpr OpEntry kContribQuantizedOps[] = {
    {"com.microsoft:DynamicQuantizeMatMul", 1, importDynamicQuantizeMatMul},
    {"com.microsoft:MatMulIntegerToFloat", 1, importMatMulIntegerToFloat},
    {"com.microsoft:MatMulNBits", 1, importMatMulNBits},
};

} // namespace

llvm::ArrayRef<OpEntry> contribQuantizedOps() { return kContribQuantizedOps; }

} // namespace cleave::onnx
