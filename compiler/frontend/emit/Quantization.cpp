// See Quantization.h.
#include "compiler/frontend/emit/Quantization.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

static Value repeatedBlocks(const Emitter &e, Value factor, Value x, int64_t axis, int64_t block) {
  Sizes dims = shapeOf(x), blocks = shapeOf(factor);
  if (blocks.size() != dims.size())
    fail("has scales ", showShape(blocks), " for blocks of ", showShape(dims),
         ", expected as many dims");
  Sizes repeated = blocks, flat = blocks;
  repeated.insert(repeated.begin() + axis + 1, Polynomial(block));
  flat[axis] *= block;
  Value all = e.reshape(e.broadcast(e.insertDim(factor, axis + 1), repeated), flat);
  return e.broadcast(e.slice(all, axis, 0, dims[axis]), dims);
}

Value perElement(const Emitter &e, Value factor, Value x, int64_t axis, int64_t block) {
  Sizes dims = shapeOf(x), found = shapeOf(factor);
  if (found.empty() || (found.size() == 1 && found[0] == Polynomial(1)))
    return e.broadcast(e.reshape(factor, {}), dims);
  axis = e.axis(axis, rankOf(x));
  if (block > 0)
    return repeatedBlocks(e, factor, x, axis, block);
  if (found.size() != 1)
    return e.broadcast(factor, dims);
  Sizes column(dims.size(), Polynomial(1));
  column[axis] = found[0];
  return e.broadcast(e.reshape(factor, column), dims);
}

// The least and largest number of an integer type.
static std::pair<double, double> rangeOf(mlir::Type type) {
  int bits = static_cast<int>(type.getIntOrFloatBitWidth());
  if (type.isUnsignedInteger())
    return {0, std::ldexp(1.0, bits) - 1};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

Value quantize(const Emitter &e, Value x, Value scale, Value zero, mlir::Type type, int64_t axis,
               int64_t block) {
  if (!mlir::isa<mlir::IntegerType>(type))
    fail("quantizes to a type that is not an integer");
  // float32 represents 16-bit integers exactly.
  mlir::Type element = e.b.getF32Type();
  Value quotient = e.div(e.cast(x, element), perElement(e, e.cast(scale, element), x, axis, block));
  Value rounded = e.unary<RoundOp>(quotient);
  if (zero)
    rounded = e.add(rounded, perElement(e, e.cast(zero, element), x, axis, block));
  auto [least, most] = rangeOf(type);
  return e.cast(e.min(e.max(rounded, least), most), type);
}

Value dequantize(const Emitter &e, Value x, Value scale, Value zero, int64_t axis, int64_t block) {
  mlir::Type element = elementOf(scale);
  e.checkFloat(scale);
  bool isWide = elementOf(x).getIntOrFloatBitWidth() > 16;
  Value value;
  if (zero && isWide) // subtract before rounding
    value = e.cast(e.sub(x, perElement(e, zero, x, axis, block)), element);
  else if (zero)
    value = e.cast(e.sub(e.cast(x, e.b.getF32Type()),
                         perElement(e, e.cast(zero, e.b.getF32Type()), x, axis, block)),
                   element);
  else
    value = e.cast(x, element);
  return e.mul(value, perElement(e, scale, x, axis, block));
}

DynamicallyQuantized quantizeDynamically(const Emitter &e, Value x) {
  e.checkFloat(x);
  mlir::Type type = fromElementType(ElementType::U8, e.b.getContext());
  Ints all = dimsFrom(0, rankOf(x));
  Value low = e.min(e.reduce(Reduction::Min, x, all), 0),
        high = e.max(e.reduce(Reduction::Max, x, all), 0);
  Value range = e.sub(high, low);
  Value scale =
      e.select(e.compare(Predicate::GT, range, 0), e.div(range, 255.0), e.splat(range, 1));
  Value start = e.unary<RoundOp>(e.neg(e.div(low, scale)));
  Value zero = e.cast(e.min(e.max(start, 0), 255), type);
  return {quantize(e, x, scale, zero, type, 0), scale, zero};
}

} // namespace cleave::emit
