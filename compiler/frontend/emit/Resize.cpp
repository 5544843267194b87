// See Resize.h. Weights are a kernel (tent, cubic) about each sample's position; see ONNX's Resize
// for the meaning of all options.
#include "compiler/frontend/emit/Resize.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

namespace {

// The largest number of elements of a matrix or list of positions.
constexpr int64_t kMostWeights = int64_t(1) << 22, kMostPlaces = int64_t(1) << 20;

// Number: float32, in which files store scales and runtimes compute positions, except for float64
// data. The rounding decides for positions on the border between two elements (5 · 0.6, say).
template <typename Number>
Number positionIn(int64_t x, int64_t input, const ResizeAxis &axis, const ResizeOptions &options) {
  auto in = static_cast<Number>(input), at = static_cast<Number>(x),
       out = static_cast<Number>(axis.output), half = static_cast<Number>(0.5);
  Number scale = axis.scale ? static_cast<Number>(*axis.scale) : out / in, size = scale * in;
  auto begin = static_cast<Number>(axis.begin), end = static_cast<Number>(axis.end);
  switch (options.coordinates) {
  case Coordinates::AlignCorners:
    return size == 1 ? 0 : at * (in - 1) / (size - 1);
  case Coordinates::Asymmetric:
    return at / scale;
  case Coordinates::HalfPixelNearest:
    return (at + half) / scale;
  case Coordinates::CropAndResize:
    return size == 1 ? (begin + end) * (in - 1) / 2
                     : begin * (in - 1) + at * (end - begin) * (in - 1) / (size - 1);
  case Coordinates::HalfPixelSymmetric:
    return in / 2 * (1 - out / size) + (at + half) / scale - half;
  case Coordinates::PytorchHalfPixel:
    return axis.output == 1 ? 0 : (at + half) / scale - half;
  case Coordinates::HalfPixel:
    break;
  }
  return (at + half) / scale - half;
}

double positionOf(int64_t x, int64_t input, const ResizeAxis &axis, const ResizeOptions &options) {
  return options.inDouble ? positionIn<double>(x, input, axis, options)
                          : positionIn<float>(x, input, axis, options);
}

bool isOutside(double position, int64_t input, const ResizeOptions &options) {
  return options.coordinates == Coordinates::CropAndResize &&
         (position < 0 || position > static_cast<double>(input - 1));
}

int64_t nearest(double position, int64_t input, NearestRounding rounding) {
  double down = std::floor(position), chosen = down;
  switch (rounding) {
  case NearestRounding::PreferFloor:
    chosen = std::ceil(position - 0.5);
    break;
  case NearestRounding::PreferCeil:
    chosen = std::floor(position + 0.5);
    break;
  case NearestRounding::Floor:
    break;
  case NearestRounding::Ceil:
    chosen = std::ceil(position);
    break;
  }
  return static_cast<int64_t>(std::clamp(chosen, 0.0, static_cast<double>(input - 1)));
}

double kernel(double distance, const ResizeOptions &options) {
  double x = std::fabs(distance), a = options.cubic;
  if (options.interpolation == Interpolation::Linear)
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// One row of the weights.
void addWeights(double *row, double position, int64_t input, double scale,
                const ResizeOptions &options) {
  double narrow = options.antialias ? std::min(scale, 1.0) : 1;
  double reach = (options.interpolation == Interpolation::Linear ? 1 : 2) / narrow, sum = 0;
  auto first = static_cast<int64_t>(std::floor(position - reach)),
       last = static_cast<int64_t>(std::ceil(position + reach));
  std::vector<double> weights;
  weights.reserve(last - first + 1);
  for (int64_t i = first; i <= last; ++i) {
    bool counts = !options.excludeOutside || (i >= 0 && i < input);
    weights.push_back(counts ? kernel((static_cast<double>(i) - position) * narrow, options) : 0);
    sum += weights.back();
  }
  for (int64_t i = first; i <= last; ++i)
    row[std::clamp(i, int64_t(0), input - 1)] += weights[i - first] / sum;
}

// Checks sizes, scales and regions, from which positions and the extent of kernels follow.
void checkAxis(int64_t input, const ResizeAxis &axis) {
  constexpr double farthest = 1e6; // limit of `begin` and `end`, in sizes of the input
  if (input < 1 || axis.output < 0 || axis.output > kMostPlaces)
    fail("resizes a dim from ", input, " to ", axis.output,
         " elements, expected at least 1 and fewer");
  if (axis.scale && !(*axis.scale * static_cast<double>(input) > 0.5 && *axis.scale < farthest))
    fail("resizes a dim of size ", input, " by the factor ", *axis.scale);
  if (!(std::fabs(axis.begin) < farthest && std::fabs(axis.end) < farthest))
    fail("crops a dim from ", axis.begin, " to ", axis.end, " of its size");
}

// The weights of `input` elements in the output's samples: [output, input].
Tensor resizeWeights(int64_t input, const ResizeAxis &axis, const ResizeOptions &options) {
  checkAxis(input, axis);
  if (axis.output > kMostWeights / input)
    fail("resizes a dim from ", input, " to ", axis.output,
         " elements, expected at least 1 and fewer");
  Tensor weights(ElementType::F64, {axis.output, input});
  double scale = axis.scale.value_or(static_cast<double>(axis.output) / static_cast<double>(input));
  for (int64_t x = 0; x < axis.output; ++x) {
    double position = positionOf(x, input, axis, options);
    double *row = weights.values.data() + x * input;
    if (isOutside(position, input, options))
      continue;
    if (options.interpolation == Interpolation::Nearest)
      row[nearest(position, input, options.rounding)] = 1;
    else
      addWeights(row, position, input, scale, options);
  }
  return weights;
}

} // namespace

// Nearest: a gather.
static Value choose(const Emitter &e, Value x, const ResizeAxis &axis, int64_t input,
                    const ResizeOptions &options) {
  checkAxis(input, axis);
  Tensor indices(ElementType::I64, {axis.output});
  for (int64_t i = 0; i < axis.output; ++i) {
    double position = positionOf(i, input, axis, options);
    indices.values[i] = static_cast<double>(
        isOutside(position, input, options) ? -1 : nearest(position, input, options.rounding));
  }
  return e.gather(x, e.constant(indices), axis.dim);
}

static Value weigh(const Emitter &e, Value x, const ResizeAxis &axis, int64_t input,
                   const ResizeOptions &options) {
  Tensor weights = resizeWeights(input, axis, options);
  Value matrix = e.cast(e.constant(weights), elementOf(x));
  Value product =
      DotGeneralOp::create(e.b, e.loc, x, matrix, Ints{}, Ints{}, Ints{axis.dim}, Ints{1});
  Ints order = dimsFrom(0, rankOf(x) - 1); // the resized dim is now the last
  order.insert(order.begin() + axis.dim, rankOf(x) - 1);
  return e.transpose(product, order);
}

// CropAndResize: positions outside of the input get the extrapolation value.
static Value extrapolate(const Emitter &e, Value x, const ResizeAxis &axis, int64_t input,
                         const ResizeOptions &options) {
  if (options.coordinates != Coordinates::CropAndResize)
    return x;
  Tensor outside(ElementType::Bool, {axis.output});
  bool any = false;
  for (int64_t i = 0; i < axis.output; ++i)
    any |=
        (outside.values[i] = isOutside(positionOf(i, input, axis, options), input, options)) != 0;
  if (!any)
    return x;
  Sizes column(rankOf(x), Polynomial(1));
  column[axis.dim] = axis.output;
  Value mask = e.broadcast(e.reshape(e.constant(outside), column), shapeOf(x));
  return e.select(mask, e.splat(x, options.extrapolation), x);
}

Value resize(const Emitter &e, Value x, llvm::ArrayRef<ResizeAxis> axes, ResizeOptions options) {
  options.inDouble = elementOf(x).isF64();
  bool isNearest = options.interpolation == Interpolation::Nearest;
  if (!isNearest)
    e.checkFloat(x);
  Sizes before = shapeOf(x);
  for (const ResizeAxis &axis : axes) {
    int64_t input = e.number(before[axis.dim], "size of a resized dim");
    bool unchanged = axis.output == input && axis.scale.value_or(1) == 1 &&
                     options.coordinates != Coordinates::CropAndResize &&
                     options.coordinates != Coordinates::HalfPixelNearest;
    if (unchanged)
      continue;
    if (shapeOf(x)[axis.dim] != before[axis.dim])
      fail("resizes dim ", axis.dim, " twice");
    x = isNearest ? choose(e, x, axis, input, options) : weigh(e, x, axis, input, options);
    e.type(shapeOf(x), elementOf(x)); // fails if it is too large
  }
  for (const ResizeAxis &axis : axes)
    x = extrapolate(e, x, axis, *before[axis.dim].constant(), options);
  return x;
}

} // namespace cleave::emit
