// See Random.h.
#include "dialects/graph/Random.h"

#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

// Every element is its row-major position in the whole tensor.
static Value buildPositions(OpBuilder &b, Location loc, const Shape &shape,
                            const BlockPosition &block) {
  Type type = tensorOf(shape, b.getI64Type());
  Value positions = buildSplat(b, loc, type, 0);
  Polynomial stride(1);
  for (size_t dim = shape.size(); dim-- > 0;) {
    Value index = IotaOp::create(b, loc, type, dim);
    for (auto [offsetDim, offset] : llvm::zip(block.dims, block.offsets))
      if (offsetDim == static_cast<int64_t>(dim))
        index = AddOp::create(b, loc, index, buildBroadcast(b, loc, offset, shape));
    Value steps = MulOp::create(b, loc, index, buildSizeLike(b, index, stride));
    positions = AddOp::create(b, loc, positions, steps);
    stride *= block.whole.empty() ? shape[dim] : Polynomial(block.whole[dim]);
  }
  return positions;
}

Value buildUniform(OpBuilder &b, Location loc, const Shape &shape, Value key,
                   const BlockPosition &block) {
  Value positions = buildPositions(b, loc, shape, block);
  Value keys = buildBroadcast(b, loc, key, shape);
  return RandomOp::create(b, loc, tensorOf(shape, b.getF32Type()), positions, keys);
}

// 0 where nothing is kept at all.
static double keptFactor(double rate) { return rate < 1 ? 1 / (1 - rate) : 0; }

double dropFactor(double rate, double seed, int64_t position) {
  // In single precision, as the built comparison.
  bool isKept = randomNumber(static_cast<double>(position), seed) >=
                static_cast<double>(static_cast<float>(rate));
  return isKept ? keptFactor(rate) : 0;
}

Value buildDropped(OpBuilder &b, Location loc, Value operand, Value seed, double rate,
                   const BlockPosition &block) {
  Value random = buildUniform(b, loc, shapeOf(operand), seed, block);
  Value kept = CompareOp::create(b, loc, Predicate::GE, random, buildSplatLike(b, random, rate));
  Value factors =
      SelectOp::create(b, loc, operand.getType(), kept,
                       buildSplatLike(b, operand, keptFactor(rate)), buildSplatLike(b, operand, 0));
  return MulOp::create(b, loc, operand, factors);
}

void addDropoutEffects(DropoutInterface op, MemoryEffectList &effects) {
  if (op.getDropRate() > 0 && !op.getSeed())
    effects.emplace_back(MemoryEffects::Allocate::get(), op->getOpResult(0));
}

} // namespace cleave::graph
