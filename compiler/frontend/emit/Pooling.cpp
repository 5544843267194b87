// See Pooling.h.
#include "compiler/frontend/emit/Pooling.h"

#include "compiler/frontend/emit/Root.h"
#include "compiler/frontend/emit/Slicing.h"

#include <algorithm>

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
  return e.reduce(Reduction::Max, x, dimsFrom(2, rankOf(x)), /*keep=*/true);
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

// One dim whose windows differ in size.
Value poolUnevenly(const Emitter &e, Value x, int64_t dim, int64_t size, bool average) {
  int64_t from = e.number(shapeOf(x)[dim], "pooled size");
  if (size > 4096 || from > (int64_t(1) << 40)) // each is an op
    fail("pools a dim of size ", from, " to ", size, " elements, expected at most 4096");
  Values pieces;
  for (Range range : rangesOf(from, size)) {
    Value piece = e.slice(x, dim, range.start, range.size);
    pieces.push_back(average ? e.mean(piece, {dim}, true)
                             : e.reduce(Reduction::Max, piece, {dim}, true));
  }
  return e.concat(pieces, dim);
}

Value adaptivePool(const Emitter &e, Value x, const Ints &sizes, bool average) {
  checkData(e, x);
  Sizes spatial = spatialOf(x);
  if (sizes.size() != spatial.size())
    fail("has ", sizes.size(), " sizes for data ", showShape(shapeOf(x)));
  // Reduces dims that become 1, pools dims whose sizes divide together, and the others one by one.
  PoolOptions options;
  Ints reduced, uneven;
  bool pools = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1)
      fail("pools to a size of ", sizes[i]);
    std::optional<Polynomial> ratio = spatial[i].dividedBy(sizes[i]);
    bool one = sizes[i] == 1, even = !one && ratio && ratio->isConstant();
    options.window.kernel.push_back(even ? *ratio->constant() : 1);
    pools |= even && *ratio != Polynomial(1);
    auto dim = static_cast<int64_t>(i) + 2;
    if (one)
      reduced.push_back(dim);
    else if (!even)
      uneven.push_back(dim);
  }
  if (!reduced.empty())
    x = average ? e.mean(x, reduced, true) : e.reduce(Reduction::Max, x, reduced, true);
  options.window.strides = options.window.kernel;
  if (pools)
    x = average ? averagePool(e, x, options) : maxPool(e, x, options);
  for (int64_t dim : uneven)
    x = poolUnevenly(e, x, dim, sizes[dim - 2], average);
  return x;
}

} // namespace

Value adaptiveAveragePool(const Emitter &e, Value x, const Ints &sizes) {
  return adaptivePool(e, x, sizes, true);
}

Value adaptiveMaxPool(const Emitter &e, Value x, const Ints &sizes) {
  return adaptivePool(e, x, sizes, false);
}

} // namespace cleave::emit
