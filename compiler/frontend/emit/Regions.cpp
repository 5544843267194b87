// See Regions.h. Images are read as rows of channels: [images · h · w, channels].
#include "compiler/frontend/emit/Regions.h"

#include "compiler/frontend/emit/Convolution.h"

#include <algorithm>

namespace cleave::emit {

using namespace graph;

namespace {

struct Corner {
  Value index;  // row-major position in the image, int64; -1: outside
  Value weight; // of the positions' type
};

// Positions are computed in at least 32 bits, since 16 do not resolve the pixels of a large image.
Value asPositions(const Emitter &e, Value x) {
  return elementOf(x).isF64() ? x : e.cast(x, e.b.getF32Type());
}

// The next element along one dim, or the one before: its index and its weight for a position.
struct Neighbour {
  Value index, weight, inside; // inside: whether there is such an element
};

Neighbour neighbour(const Emitter &e, Value position, int64_t size, bool next) {
  Value first = e.unary<FloorOp>(position), part = e.sub(position, first);
  Value at = next ? e.add(first, 1) : first;
  // Far positions and NaN must not wrap around in int64.
  Value near = e.min(e.max(at, -1), static_cast<double>(size));
  Value index = e.cast(near, e.b.getI64Type());
  Value from = e.compare(Predicate::GE, index, 0),
        to = e.compare(Predicate::LT, index, static_cast<double>(size));
  return {index, next ? part : e.sub(1, part), e.binary<AndOp>(from, to)};
}

// The four elements around the positions y and x (of one shape).
std::vector<Corner> cornersOf(const Emitter &e, Value y, Value x, int64_t height, int64_t width) {
  std::vector<Corner> corners;
  for (bool down : {false, true})
    for (bool right : {false, true}) {
      Neighbour row = neighbour(e, y, height, down), column = neighbour(e, x, width, right);
      Value index = e.add(e.mul(row.index, static_cast<double>(width)), column.index);
      index = e.select(e.binary<AndOp>(row.inside, column.inside), index, e.splat(index, -1));
      corners.push_back({index, e.mul(row.weight, column.weight)});
    }
  return corners;
}

// x [n, c, h, w] as rows [n, h · w, c].
Value rowsOf(const Emitter &e, Value x, int64_t height, int64_t width) {
  Sizes dims = shapeOf(x);
  return e.swapDims(e.reshape(x, {dims[0], dims[1], height * width}), 1, 2);
}

// The rows [b, size, c] at a corner's index [b, places], weighed: [b, places, c].
Value weighedRows(const Emitter &e, Value rows, const Corner &corner) {
  Value found = e.gather(rows, corner.index, 1, 1);
  Value weight = e.insertDim(e.cast(corner.weight, elementOf(rows)), 2);
  return e.mul(found, e.broadcast(weight, shapeOf(found)));
}

// -- regions of interest --------------------------------------------------------------------------

struct Samples {
  Value position; // [regions, result · samples], not below 0 nor behind the last element
  Value inside;   // whether the position is within one element of the image
};

// The positions along one dim between the boxes' columns `low` and `low + 2`.
Samples samplesAlong(const Emitter &e, Value boxes, int64_t low, int64_t result, int64_t size,
                     const RoiAlignOptions &options) {
  auto side = [&](int64_t column) {
    return e.sub(e.mul(e.slice(boxes, 1, column, 1), options.scale), options.halfPixel ? 0.5 : 0);
  };
  Value start = side(low), extent = e.sub(side(low + 2), start);
  if (!options.halfPixel)
    extent = e.max(extent, 1);
  int64_t count = result * options.samples;
  Sizes dims = {shapeOf(boxes)[0], count};
  Value step = e.add(e.iota(dims, 1, elementOf(boxes)), 0.5);
  Value part = e.mul(e.broadcast(extent, dims), e.div(step, static_cast<double>(count)));
  Value position = e.add(e.broadcast(start, dims), part);
  Value from = e.compare(Predicate::GE, position, -1),
        to = e.compare(Predicate::LE, position, static_cast<double>(size));
  Value clamped = e.min(e.max(position, 0), static_cast<double>(size - 1));
  return {clamped, e.binary<AndOp>(from, to)};
}

// `value` [regions, count] along dim 1 or 2 of [regions, rows, columns].
Value spread(const Emitter &e, Value value, int64_t newDim, const Sizes &dims) {
  return e.broadcast(e.insertDim(value, newDim), dims);
}

// Moves the samples of each element of the result into a last dim: [regions, h, w, c, samples].
Value bySample(const Emitter &e, Value x, const RoiAlignOptions &options) {
  Sizes d = shapeOf(x); // [regions, h · samples · w · samples, c]
  Value apart =
      e.reshape(x, {d[0], options.height, options.samples, options.width, options.samples, d[2]});
  Value moved = e.transpose(apart, {0, 1, 3, 5, 2, 4});
  return e.reshape(moved,
                   {d[0], options.height, options.width, d[2], options.samples * options.samples});
}

} // namespace

Value roiAlign(const Emitter &e, Value x, Value boxes, Value batch,
               const RoiAlignOptions &options) {
  Sizes from = shapeOf(x), regions = shapeOf(boxes);
  if (from.size() != 4 || regions.size() != 2 || regions[1] != Polynomial(4) ||
      rankOf(batch) != 1 || std::min({options.samples, options.height, options.width}) < 1 ||
      std::max({options.samples, options.height, options.width}) > (1 << 20))
    fail("has data ", showShape(from), " and boxes ", showShape(regions),
         ", expected [n, c, h, w] and [regions, 4]");
  e.type(from, elementOf(x)); // check that products of sizes fit, also after a dim of size 0
  int64_t height = e.number(from[2], "height"), width = e.number(from[3], "width");
  boxes = asPositions(e, boxes);
  Samples y = samplesAlong(e, boxes, 1, options.height, height, options),
          at = samplesAlong(e, boxes, 0, options.width, width, options);
  Sizes grid = {regions[0], options.height * options.samples, options.width * options.samples};
  Sizes flat = {1, product(grid)};
  Value inside = e.binary<AndOp>(spread(e, y.inside, 2, grid), spread(e, at.inside, 1, grid));
  Value image = e.mul(e.cast(batch, e.b.getI64Type()), static_cast<double>(height * width));
  image = e.broadcast(e.reshape(image, {regions[0], 1, 1}), grid);
  // One table of the rows of all images, indexed by the region's image.
  Value rows = e.reshape(rowsOf(e, x, height, width), {1, from[0] * (height * width), from[1]});
  Value result;
  for (Corner corner : cornersOf(e, spread(e, y.position, 2, grid), spread(e, at.position, 1, grid),
                                 height, width)) {
    Value exists = e.binary<AndOp>(inside, e.compare(Predicate::GE, corner.index, 0));
    Value index = e.select(exists, e.add(corner.index, image), e.splat(image, -1));
    Value part = weighedRows(e, rows, {e.reshape(index, flat), e.reshape(corner.weight, flat)});
    result = !result ? part : options.largest ? e.max(result, part) : e.add(result, part);
  }
  result = e.reshape(result, {regions[0], grid[1] * grid[2], from[1]});
  Value samples = bySample(e, result, options);
  Value pooled = options.largest ? e.reduce(Reduction::Max, samples, {4}) : e.mean(samples, {4});
  return e.transpose(pooled, {0, 3, 1, 2});
}

// -- deformed windows -----------------------------------------------------------------------------

namespace {

class DeformedWindows {
public:
  DeformedWindows(const Emitter &e, Value x, Value weight, Value offset, Value mask, Window window,
                  int64_t groups)
      : e_(e), x_(x), offset_(offset), mask_(mask), window_(std::move(window)), groups_(groups) {
    Sizes from = shapeOf(x), at = shapeOf(offset), kernel = shapeOf(weight);
    if (from.size() != 4 || at.size() != 4 || kernel.size() != 4)
      fail("has data ", showShape(from), ", offsets ", showShape(at), " and a weight ",
           showShape(kernel), ", expected 4 dims of each");
    kernelHeight_ = e.number(kernel[2], "kernel's height");
    kernelWidth_ = e.number(kernel[3], "kernel's width");
    channels_ = e.number(from[1], "number of channels");
    places_ = e.number(kernel[2] * kernel[3], "size of the kernel");
    window_.strides.resize(2, 1), window_.dilations.resize(2, 1), window_.padsLow.resize(2, 0);
    dims_ = {from[0] * groups_, places_, at[2], at[3]};
    if (groups < 1 || channels_ % groups || at[0] != from[0] || places_ > (1 << 20) ||
        at[1] != Polynomial(groups) * places_ * 2)
      fail("has offsets ", showShape(at), " for ", groups, " groups of ", places_, " places and ",
           channels_, " channels");
  }

  // The elements of the windows of all places of the result: [n, c, kernel, out h · out w].
  Value read() const {
    Sizes from = shapeOf(x_);
    int64_t height = e_.number(from[2], "height"), width = e_.number(from[3], "width"),
            depth = channels_ / groups_;
    Value images = e_.reshape(x_, {from[0] * groups_, depth, height, width});
    Value rows = rowsOf(e_, images, height, width), sum;
    Sizes flat = {dims_[0], dims_[1] * dims_[2] * dims_[3]};
    for (const Corner &corner : cornersOf(e_, positions(0), positions(1), height, width)) {
      Value part =
          weighedRows(e_, rows, {e_.reshape(corner.index, flat), e_.reshape(corner.weight, flat)});
      sum = sum ? e_.add(sum, part) : part;
    }
    if (mask_)
      sum = e_.mul(sum, e_.broadcast(e_.reshape(mask_, {flat[0], flat[1], 1}), shapeOf(sum)));
    return e_.reshape(e_.swapDims(sum, 1, 2), {from[0], channels_, places_, dims_[2] * dims_[3]});
  }

private:
  // Along dim 0 (down) or 1 (right): [n · groups, kernel, out h, out w].
  Value positions(int64_t dim) const {
    Value moved = e_.reshape(offset_, {dims_[0], places_, 2, dims_[2], dims_[3]});
    moved = asPositions(e_, e_.dropDim(e_.slice(moved, 2, dim, 1), 2));
    Value out = e_.mul(e_.iota(dims_, 2 + dim, elementOf(moved)),
                       static_cast<double>(window_.strides[dim]));
    Tensor inKernel(graph::toElementType(elementOf(moved)), {1, places_, 1, 1});
    for (int64_t i = 0; i < places_; ++i) {
      int64_t at = dim == 0 ? i / kernelWidth_ : i % kernelWidth_;
      inKernel.values[i] = static_cast<double>(at) * static_cast<double>(window_.dilations[dim]) -
                           static_cast<double>(window_.padsLow[dim]);
    }
    return e_.add(e_.add(out, e_.broadcast(e_.constant(inKernel), dims_)), moved);
  }

  const Emitter &e_;
  Value x_, offset_, mask_;
  Window window_;
  int64_t groups_, kernelHeight_ = 1, kernelWidth_ = 1, channels_ = 1, places_ = 1;
  Sizes dims_;
};

} // namespace

Value deformableConvolution(const Emitter &e, Value x, Value weight, Value offset, Value bias,
                            Value mask, Window window, int64_t groups, int64_t offsetGroups) {
  e.checkFloat(x);
  e.checkSameType(x, weight);
  DeformedWindows windows(e, x, weight, offset, mask, std::move(window), offsetGroups);
  Sizes from = shapeOf(x), out = shapeOf(offset), kernel = shapeOf(weight);
  std::optional<Polynomial> inputs = from[1].dividedBy(Polynomial(groups)),
                            outputs = kernel[0].dividedBy(Polynomial(groups));
  if (!inputs || !outputs || *inputs != kernel[1])
    fail("has data ", showShape(from), " and a weight ", showShape(kernel), " in ", groups,
         " groups");
  Polynomial perGroup = *inputs * kernel[2] * kernel[3];
  Value columns = e.reshape(windows.read(), {from[0], groups, perGroup, out[2] * out[3]});
  Value weights = e.broadcast(e.reshape(weight, {1, groups, *outputs, perGroup}),
                              {from[0], groups, *outputs, perGroup});
  Value result =
      e.reshape(buildMatmul(e.b, weights, columns), {from[0], kernel[0], out[2], out[3]});
  return bias ? e.add(result, perChannel(e, bias, result)) : result;
}

} // namespace cleave::emit
