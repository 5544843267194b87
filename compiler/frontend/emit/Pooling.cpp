// See Pooling.h.
#include "compiler/frontend/emit/Pooling.h"

#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/emit/Root.h"
#include "compiler/frontend/emit/Slicing.h"
#include "dialects/graph/StopGradient.h"

#include <algorithm>
#include <limits>

namespace cleave::emit {

using namespace graph;

namespace {

void checkData(const Emitter &e, Value x) {
  e.checkFloat(x);
  e.checkRank(x, 3);
}

Value pool(const Emitter &e, Value x, PoolKind kind, const Window &window, bool countPadding) {
  Value result = PoolOp::create(e.b, e.loc, x, kind, window.kernel, window.strides,
                                window.dilations, window.padsLow, window.padsHigh, countPadding);
  e.type(shapeOf(result), elementOf(result)); // fails if it is too large
  return result;
}

// Adds the padding as elements of value 0; negative padding removes elements that no window covers.
Value padZeros(const Emitter &e, Value x, const Ints &low, const Ints &high) {
  for (size_t i = 0; i < low.size(); ++i)
    x = padDim(e, x, static_cast<int64_t>(i) + 2, low[i], high[i]);
  return x;
}

// x^p, or |x|^p, and the root of it.
Value powerOf(const Emitter &e, Value x, double p) {
  if (p == 1)
    return x;
  if (p == 2)
    return e.mul(x, x);
  return PowOp::create(e.b, e.loc, x, e.splat(x, p));
}
Value rootOf(const Emitter &e, Value x, double p) {
  if (p == 1)
    return x;
  if (p == 2)
    return flatRoot(e, x);
  return PowOp::create(e.b, e.loc, x, e.splat(x, 1 / p));
}

void checkPower(double p) {
  if (!(p >= 1))
    fail("has a norm of power ", p, ", expected at least 1");
}

} // namespace

Value maxPool(const Emitter &e, Value x, const PoolOptions &options) {
  checkData(e, x);
  Window window = fittedWindow(e, spatialOf(x), options.window, options.autoPad, options.ceil);
  return pool(e, x, PoolKind::Max, window, false);
}

namespace {

constexpr int64_t kMostElements = 1024; // of a window; each is a few ops

// The elements of x at one place of all windows, number `at` in the kernel; `fill` in the padding.
Value elementOfWindows(const Emitter &e, Value x, const Window &window, const Sizes &windows,
                       int64_t at, double fill) {
  for (size_t i = window.rank(); i-- > 0; at /= window.kernel[i]) {
    const auto dim = static_cast<int64_t>(i) + 2;
    x = padDim(e, x, dim, window.padsLow[i], window.padsHigh[i], PadMode::Constant, fill);
    x = e.slice(x, dim, at % window.kernel[i] * window.dilations[i], windows[i], window.strides[i]);
  }
  return x;
}

} // namespace

Value maxPoolPlaces(const Emitter &e, Value x, const PoolOptions &options) {
  checkData(e, x);
  const Sizes spatial = spatialOf(x);
  Window window = fittedWindow(e, spatial, options.window, options.autoPad, options.ceil);
  const Sizes windows = spatialOf(pool(e, x, PoolKind::Max, window, false));
  const int64_t count = e.number(product(toShape(window.kernel)), "number of elements of a window");
  if (count > kMostElements)
    fail("finds the places of maxima in windows of ", count, " elements, expected at most ",
         kMostElements);
  Sizes line{1, 1};
  line.insert(line.end(), spatial.begin(), spatial.end());
  Value numbers = e.reshape(e.iota({product(spatial)}, 0, e.b.getI64Type()), line);
  Value best, place;
  for (int64_t at = 0; at < count; ++at) {
    constexpr double least = -std::numeric_limits<double>::infinity();
    Value value = elementOfWindows(e, x, window, windows, at, least);
    Value number = elementOfWindows(e, numbers, window, windows, at, -1);
    number = e.broadcast(number, shapeOf(value));
    if (!best) {
      best = value, place = number;
      continue;
    }
    // The padding is never chosen: another place comes before it or after it.
    Value isBetter = e.binary<OrOp>(e.compare(Predicate::GT, value, best),
                                    e.compare(Predicate::NE, value, value));
    isBetter = e.binary<OrOp>(isBetter, e.compare(Predicate::LT, place, 0));
    isBetter = e.binary<AndOp>(isBetter, e.compare(Predicate::GE, number, 0));
    best = e.select(isBetter, value, best);
    place = e.select(isBetter, number, place);
  }
  return place;
}

Value maxUnpool(const Emitter &e, Value x, Value places, const Polynomial &size) {
  Sizes dims = shapeOf(x);
  if (dims.size() != 3 || shapeOf(places) != dims)
    fail("has data ", showShape(dims), " and places ", showShape(shapeOf(places)),
         ", expected the same three dims");
  dims[2] = size;
  Value zeros = e.splat(dims, elementOf(x), 0);
  Value placed = scatterElements(e, zeros, places, x, 2, Combine::Replace);
  Value sums = scatterElements(e, zeros, places, x, 2, Combine::Add);
  auto constant = [&](Value value) -> Value {
    return StopGradientOp::create(e.b, e.loc, value.getType(), value);
  };
  // The values of the one and the gradient of the other.
  return e.add(constant(placed), e.sub(sums, constant(sums)));
}

Value averagePool(const Emitter &e, Value x, const PoolOptions &options) {
  checkData(e, x);
  Window window = fittedWindow(e, spatialOf(x), options.window, options.autoPad);
  if (!options.ceil)
    return pool(e, x, PoolKind::Average, window, options.countPadding);
  // Counts elements of the data or, with countPadding, of the padded data, never elements beyond
  // it.
  Window rounded = fittedWindow(e, spatialOf(x), window, AutoPad::None, /*ceil=*/true);
  if (!options.countPadding)
    return pool(e, x, PoolKind::Average, rounded, false);
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t inside = std::clamp<int64_t>(rounded.padsHigh[i], 0, window.padsHigh[i]);
    window.padsHigh[i] = inside;
    rounded.padsHigh[i] -= inside;
  }
  x = padZeros(e, x, window.padsLow, window.padsHigh);
  rounded.padsLow.assign(window.rank(), 0);
  return pool(e, x, PoolKind::Average, rounded, false);
}

Value sumPool(const Emitter &e, Value x, const PoolOptions &options) {
  checkData(e, x);
  Window window = fittedWindow(e, spatialOf(x), options.window, options.autoPad, options.ceil);
  double count = 1;
  for (int64_t size : window.kernel)
    count *= static_cast<double>(size);
  x = padZeros(e, x, window.padsLow, window.padsHigh);
  window.padsLow.assign(window.rank(), 0);
  window.padsHigh.assign(window.rank(), 0);
  return e.mul(pool(e, x, PoolKind::Average, window, false), count);
}

Value lpPool(const Emitter &e, Value x, double p, const PoolOptions &options) {
  checkPower(p);
  return rootOf(e, sumPool(e, powerOf(e, e.abs(x), p), options), p);
}

Value globalMaxPool(const Emitter &e, Value x) {
  checkData(e, x);
  return adaptiveMaxPool(e, x, Ints(rankOf(x) - 2, 1));
}

Value globalAveragePool(const Emitter &e, Value x) {
  checkData(e, x);
  return e.mean(x, dimsFrom(2, rankOf(x)), /*keep=*/true);
}

Value globalLpPool(const Emitter &e, Value x, double p) {
  checkData(e, x);
  checkPower(p);
  Value sum =
      e.reduce(Reduction::Sum, powerOf(e, e.abs(x), p), dimsFrom(2, rankOf(x)), /*keep=*/true);
  return rootOf(e, sum, p);
}

// -- adaptive -------------------------------------------------------------------------------------

namespace {

// The range of elements of each window of an adaptive pooling along a dim.
struct Range {
  int64_t start, size;
};

std::vector<Range> rangesOf(int64_t from, int64_t to) {
  std::vector<Range> ranges;
  for (int64_t i = 0; i < to; ++i) {
    int64_t start = i * from / to, end = ((i + 1) * from + to - 1) / to;
    ranges.push_back({start, end - start});
  }
  return ranges;
}

// The windows of one dim that differ in size, each pooled to one element by `pool`.
Value poolUnevenly(const Emitter &e, Value x, int64_t dim, int64_t size,
                   llvm::function_ref<Value(Value)> pool) {
  int64_t from = e.number(shapeOf(x)[dim], "pooled size");
  if (size > 4096 || from > (int64_t(1) << 40)) // each is an op
    fail("pools a dim of size ", from, " to ", size, " elements, expected at most 4096");
  Values pieces;
  for (Range range : rangesOf(from, size))
    pieces.push_back(pool(e.slice(x, dim, range.start, range.size)));
  return e.concat(pieces, dim);
}

void checkAdaptive(const Emitter &e, Value x, const Ints &sizes) {
  checkData(e, x);
  if (sizes.size() != spatialOf(x).size())
    fail("has ", sizes.size(), " sizes for data ", showShape(shapeOf(x)));
  for (int64_t size : sizes)
    if (size < 1)
      fail("pools to a size of ", size);
}

// The number of elements per window of spatial dim i, if all windows have that many.
std::optional<int64_t> evenWindow(Value x, size_t i, int64_t size) {
  std::optional<Polynomial> ratio = spatialOf(x)[i].dividedBy(size);
  return ratio ? ratio->constant() : std::nullopt;
}

// Windows without overlap, of `kernel` elements.
PoolOptions blocksOf(Ints kernel) {
  PoolOptions options;
  options.window.kernel = options.window.strides = std::move(kernel);
  return options;
}

// The largest elements of the windows of spatial dim i.
Value adaptiveMaxAlong(const Emitter &e, Value x, size_t i, int64_t size) {
  auto dim = static_cast<int64_t>(i) + 2;
  auto largest = [&](Value piece, int64_t count) {
    Ints kernel(rankOf(x) - 2, 1);
    kernel[i] = count;
    return maxPool(e, piece, blocksOf(kernel));
  };
  if (std::optional<int64_t> count = evenWindow(x, i, size))
    return *count == 1 ? x : largest(x, *count);
  if (size == 1)
    return chosenExtreme(e, x, dim, /*largest=*/true); // of a symbolic number
  return poolUnevenly(e, x, dim, size, [&](Value piece) {
    return largest(piece, e.number(shapeOf(piece)[dim], "pooled size"));
  });
}

} // namespace

// Reduces dims that become 1, pools dims whose sizes divide together, and the others one by one.
Value adaptiveAveragePool(const Emitter &e, Value x, const Ints &sizes) {
  checkAdaptive(e, x, sizes);
  Ints reduced, uneven, kernel(sizes.size(), 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::optional<int64_t> even = evenWindow(x, i, sizes[i]);
    auto dim = static_cast<int64_t>(i) + 2;
    if (sizes[i] == 1)
      reduced.push_back(dim);
    else if (even)
      kernel[i] = *even;
    else
      uneven.push_back(dim);
  }
  if (!reduced.empty())
    x = e.mean(x, reduced, true);
  if (llvm::any_of(kernel, [](int64_t size) { return size > 1; }))
    x = averagePool(e, x, blocksOf(kernel));
  for (int64_t dim : uneven)
    x = poolUnevenly(e, x, dim, sizes[dim - 2],
                     [&](Value piece) { return e.mean(piece, {dim}, true); });
  return x;
}

// All dims at once if their sizes divide. Else one by one, the last one first, so that of equal
// elements of a window the first in row-major order is chosen.
Value adaptiveMaxPool(const Emitter &e, Value x, const Ints &sizes) {
  checkAdaptive(e, x, sizes);
  Ints kernel;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (std::optional<int64_t> even = evenWindow(x, i, sizes[i]))
      kernel.push_back(*even);
  if (kernel.size() == sizes.size())
    return llvm::all_of(kernel, [](int64_t size) { return size == 1; })
               ? x
               : maxPool(e, x, blocksOf(kernel));
  for (size_t i = sizes.size(); i-- > 0;)
    x = adaptiveMaxAlong(e, x, i, sizes[i]);
  return x;
}

} // namespace cleave::emit
