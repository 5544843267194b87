// See ByPositions.h.
#include "dialects/graph/ByPositions.h"

#include "dialects/graph/Build.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {
namespace {

using Elements = llvm::function_ref<double(int64_t)>;

// 0 and -0 are different; NaN differs from everything.
bool isSame(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

// element [row, column] is `below` where column <= row + shift, else `above`.
struct Triangle {
  double below = 0, above = 0;
  int64_t shift = 0;
};

std::optional<Triangle> triangleOf(ArrayRef<int64_t> shape, int64_t count, Elements at) {
  if (shape.size() < 2 || shape[shape.size() - 1] < 2 || shape[shape.size() - 2] < 2)
    return std::nullopt;
  int64_t columns = shape[shape.size() - 1], rows = shape[shape.size() - 2];
  Triangle out{at((rows - 1) * columns), at(columns - 1), 0};
  bool isNumber = !std::isnan(out.below) && !std::isnan(out.above);
  if (!isNumber || isSame(out.below, out.above))
    return std::nullopt;
  // The diagonal goes through the first row, or through the first column.
  if (isSame(at(0), out.below))
    while (out.shift + 1 < columns && isSame(at(out.shift + 1), out.below))
      ++out.shift;
  else
    while (!isSame(at(-out.shift * columns), out.below))
      --out.shift;
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = i / columns % rows, column = i % columns;
    if (!isSame(at(i), column <= row + out.shift ? out.below : out.above))
      return std::nullopt;
  }
  return out;
}

Value buildTriangle(OpBuilder &b, Location loc, RankedTensorType type, const Triangle &triangle) {
  Shape shape = shapeOf(type), matrix(shape.end() - 2, shape.end());
  Type positions = tensorOf(matrix, b.getI64Type()), element = type.getElementType();
  Value row = IotaOp::create(b, loc, positions, 0), column = IotaOp::create(b, loc, positions, 1);
  if (triangle.shift != 0)
    row = AddOp::create(b, loc, row, buildSplatLike(b, row, static_cast<double>(triangle.shift)));
  Value isBelow = CompareOp::create(b, loc, Predicate::LE, column, row);
  if (element.isInteger(1))
    return buildBroadcast(b, loc, triangle.below != 0 ? isBelow : NotOp::create(b, loc, isBelow),
                          shape);
  Type values = tensorOf(matrix, element);
  Value chosen =
      SelectOp::create(b, loc, values, isBelow, buildSplat(b, loc, values, triangle.below),
                       buildSplat(b, loc, values, triangle.above));
  return buildBroadcast(b, loc, chosen, shape);
}

// Consecutive integers. A short tensor of them is more likely a list of choices, and is left alone.
bool isCounting(RankedTensorType type, Elements at) {
  constexpr int64_t least = 3;
  int64_t count = type.getNumElements();
  bool isLine = llvm::is_contained(type.getShape(), count);
  if (!isLine || count < least || !type.getElementType().isSignlessInteger() ||
      type.getElementType().isInteger(1))
    return false;
  for (int64_t i = 1; i < count; ++i)
    if (at(i) != at(0) + static_cast<double>(i))
      return false;
  return true;
}

} // namespace

Value buildByPositions(OpBuilder &b, Location loc, RankedTensorType type, Elements at) {
  int64_t count = type.getNumElements();
  if (count < 2)
    return nullptr;
  int64_t equal = 1;
  while (equal < count && isSame(at(equal), at(0)))
    ++equal;
  if (equal == count)
    return buildSplat(b, loc, type, at(0));
  if (isCounting(type, at)) {
    Value counted = IotaOp::create(b, loc, tensorOf({count}, type.getElementType()), 0);
    if (at(0) != 0)
      counted = AddOp::create(b, loc, counted, buildSplatLike(b, counted, at(0)));
    return buildReshape(b, counted, shapeOf(type));
  }
  std::optional<Triangle> triangle = triangleOf(type.getShape(), count, at);
  return triangle ? buildTriangle(b, loc, type, *triangle) : Value();
}

} // namespace cleave::graph
