// See Draw.h.
#include "dialects/graph/Draw.h"

using namespace mlir;

namespace cleave::graph {

// Every element is its row-major position in the whole tensor.
static Value buildPositions(OpBuilder &b, Location loc, const Shape &shape) {
  Type type = tensorOf(shape, b.getI64Type());
  Value positions = buildSplat(b, loc, type, 0);
  Polynomial stride(1);
  for (size_t dim = shape.size(); dim-- > 0;) {
    Value index = IotaOp::create(b, loc, type, dim);
    Value steps = MulOp::create(b, loc, index, buildSizeLike(b, index, stride));
    positions = AddOp::create(b, loc, positions, steps);
    stride *= shape[dim];
  }
  return positions;
}

Value buildDraw(OpBuilder &b, Location loc, const Shape &shape, Value key) {
  Value positions = buildPositions(b, loc, shape);
  Value keys = buildBroadcast(b, loc, key, shape);
  return RandomOp::create(b, loc, tensorOf(shape, b.getF32Type()), positions, keys);
}

} // namespace cleave::graph
