// See Sampling.h.
#include "compiler/frontend/emit/Sampling.h"

#include "compiler/frontend/emit/Activation.h"
#include "dialects/graph/F32Region.h"

#include <algorithm>

namespace cleave::emit {

using namespace graph;

namespace {

// -- grid sample ----------------------------------------------------------------------------------

// One element along one dim that contributes to a sample.
struct Tap {
  Value index;  // [n, o] int64
  Value inside; // null: always
  Value weight; // [n, o]; null: 1
};

class GridSampler {
public:
  GridSampler(const Emitter &e, Value x, Value grid, const GridSampleOptions &options)
      : e_(e), options_(options), x_(x) {
    e.checkFloat(grid);
    int64_t dims = rankOf(x) - 2;
    Sizes at = shapeOf(grid), from = shapeOf(x);
    if (dims > 5) // up to 4 elements per dim are combined
      fail("samples ", dims, " dims, expected at most 5");
    if (dims < 1 || rankOf(grid) != rankOf(x) || at.back() != Polynomial(dims) || at[0] != from[0])
      fail("has data ", showShape(from), " and a grid ", showShape(at),
           ", expected [n, c, …] and [n, …, ", dims, "]");
    Polynomial count = product(llvm::ArrayRef<Polynomial>(at).slice(1, dims));
    places_ = {at[0], count};
    result_ = {from[0], from[1]};
    result_.insert(result_.end(), at.begin() + 1, at.end() - 1);
    for (int64_t d = 0; d < dims; ++d) {
      sizes_.push_back(e.number(from[2 + d], "size of a sampled dim"));
      Value component = e.dropDim(e.slice(grid, dims + 1, dims - 1 - d, 1), dims + 1);
      taps_.push_back(tapsOf(e.reshape(component, places_), sizes_.back()));
    }
    flat_ =
        e.reshape(x, {from[0], from[1], product(llvm::ArrayRef<Polynomial>(from).drop_front(2))});
  }

  // All combinations of the dims' taps.
  Value run() {
    size_t combinations = 1;
    for (const auto &taps : taps_)
      combinations *= taps.size();
    Value sum;
    for (size_t c = 0; c < combinations; ++c) {
      Tap tap;
      for (size_t d = 0, rest = c; d < taps_.size(); rest /= taps_[d].size(), ++d)
        tap = joined(tap, taps_[d][rest % taps_[d].size()], sizes_[d]);
      Value part = weighed(tap);
      sum = sum ? e_.add(sum, part) : part;
    }
    return e_.reshape(sum, result_);
  }

private:
  double lowest() const { return options_.alignCorners ? 0 : -0.5; }

  Value reflected(Value position, int64_t size) const {
    double span = static_cast<double>(size) - (options_.alignCorners ? 1 : 0);
    if (span <= 0)
      return e_.splat(position, 0);
    Value distance = e_.abs(e_.sub(position, lowest()));
    Value rest = e_.binary<RemOp>(distance, e_.splat(distance, 2 * span));
    return e_.add(e_.min(rest, e_.sub(2 * span, rest)), lowest());
  }

  // At the border the slope is 0.
  Value clamped(Value position, int64_t size) const {
    return emit::clamped(e_, position, 0, static_cast<double>(size - 1));
  }

  // Maps a position into the image as the border prescribes; Zeros is handled per element.
  Value bordered(Value position, int64_t size) const {
    if (options_.border == Border::Zeros)
      return position;
    return clamped(options_.border == Border::Reflection ? reflected(position, size) : position,
                   size);
  }

  llvm::SmallVector<Tap> tapsOf(Value component, int64_t size) const {
    auto n = static_cast<double>(size);
    Value position = options_.alignCorners ? e_.mul(e_.add(component, 1), (n - 1) / 2)
                                           : e_.sub(e_.mul(e_.add(component, 1), n / 2), 0.5);
    if (options_.interpolation == Interpolation::Nearest)
      return {tapAt(e_.unary<RoundOp>(bordered(position, size)), size, {})};
    bool isCubic = options_.interpolation == Interpolation::Cubic;
    if (!isCubic)
      position = bordered(position, size);
    Value first = e_.unary<FloorOp>(position), part = e_.sub(position, first);
    if (!isCubic)
      return {tapAt(first, size, e_.sub(1, part)), tapAt(e_.add(first, 1), size, part)};
    llvm::SmallVector<Tap> taps;
    for (int64_t i = -1; i <= 2; ++i)
      taps.push_back(
          tapAt(bordered(e_.add(first, static_cast<double>(i)), size), size,
                cubicWeight(e_.abs(e_.sub(part, static_cast<double>(i))), i == -1 || i == 2)));
    return taps;
  }

  // The cubic kernel at a distance in [0, 1], or in [1, 2].
  Value cubicWeight(Value x, bool isFar) const {
    const double a = -0.75;
    if (!isFar)
      return e_.add(e_.mul(e_.mul(e_.sub(e_.mul(x, a + 2), a + 3), x), x), 1);
    return e_.sub(e_.mul(e_.add(e_.mul(e_.sub(e_.mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
  }

  Tap tapAt(Value position, int64_t size, Value weight) const {
    // Far positions and NaN must not wrap around in int64.
    Value near = e_.min(e_.max(position, -1), static_cast<double>(size));
    Tap tap{e_.cast(near, e_.b.getI64Type()), {}, weight};
    if (options_.border == Border::Zeros || options_.interpolation == Interpolation::Linear) {
      Value from = e_.compare(Predicate::GE, tap.index, 0);
      Value to = e_.compare(Predicate::LT, tap.index, static_cast<double>(size));
      tap.inside = AndOp::create(e_.b, e_.loc, from, to);
    }
    return tap;
  }

  Tap joined(const Tap &major, const Tap &minor, int64_t size) const {
    if (!major.index)
      return minor;
    auto both = [&](Value a, Value b, auto combine) { return a && b ? combine(a, b) : a ? a : b; };
    return {e_.add(e_.mul(major.index, static_cast<double>(size)), minor.index),
            both(major.inside, minor.inside,
                 [&](Value a, Value b) { return Value(AndOp::create(e_.b, e_.loc, a, b)); }),
            both(major.weight, minor.weight, [&](Value a, Value b) { return e_.mul(a, b); })};
  }

  Value weighed(const Tap &tap) const {
    Value index =
        tap.inside ? e_.select(tap.inside, tap.index, e_.splat(tap.index, -1)) : tap.index;
    Value elements = e_.gather(flat_, index, 2, 1);
    if (!tap.weight)
      return elements;
    Value weight = e_.insertDim(e_.cast(tap.weight, elementOf(x_)), 1);
    return e_.mul(elements, e_.broadcast(weight, shapeOf(elements)));
  }

  const Emitter &e_;
  const GridSampleOptions &options_;
  Value x_, flat_;
  Sizes places_, result_;
  Ints sizes_;
  std::vector<llvm::SmallVector<Tap>> taps_; // per dim, the outermost first
};

// -- blocks ---------------------------------------------------------------------------------------

int64_t blocksAlong(const Blocks &blocks, size_t d) {
  int64_t span = blocks.image[d] + blocks.padsLow[d] + blocks.padsHigh[d] -
                 blocks.dilations[d] * (blocks.kernel[d] - 1) - 1;
  return span < 0 ? 0 : span / blocks.strides[d] + 1;
}

int64_t product(const Ints &values) {
  int64_t product = 1;
  for (int64_t value : values)
    if (__builtin_mul_overflow(product, value, &product))
      fail("has the sizes ", showInts(values), ", which are too large");
  return product;
}

void checkBlocks(const Blocks &blocks) {
  size_t dims = blocks.image.size();
  if (dims > kMaxRank)
    fail("has an image of ", dims, " dims, expected at most ", kMaxRank);
  for (const Ints *list :
       {&blocks.kernel, &blocks.strides, &blocks.dilations, &blocks.padsLow, &blocks.padsHigh})
    if (list->size() != dims)
      fail("has a window of ", list->size(), " numbers for ", dims, " dims");
  for (size_t d = 0; d < dims; ++d)
    if (blocks.image[d] < 1 || blocks.kernel[d] < 1 || blocks.strides[d] < 1 ||
        blocks.dilations[d] < 1 || blocks.image[d] > (int64_t(1) << 31) ||
        blocks.kernel[d] > (int64_t(1) << 31) || blocks.strides[d] > (int64_t(1) << 31) ||
        blocks.dilations[d] > (int64_t(1) << 31) ||
        std::min(blocks.padsLow[d], blocks.padsHigh[d]) < 0 ||
        std::max(blocks.padsLow[d], blocks.padsHigh[d]) > (int64_t(1) << 31))
      fail("has a window ", showInts(blocks.kernel), " over ", showInts(blocks.image),
           ", expected positive sizes");
}

// The row-major position in the image of every element of every window, -1 in the padding:
// [kernel · blocks].
Tensor placesOf(const Blocks &blocks) {
  Ints outer = blocks.kernel;
  for (size_t d = 0; d < blocks.image.size(); ++d)
    outer.push_back(blocksAlong(blocks, d));
  if (product(outer) > kMaxConstant)
    fail("has ", product(outer), " window elements, expected at most 16 million");
  Tensor places(ElementType::I64, {product(outer)});
  int64_t i = 0;
  forEachIndex(outer, [&](const std::vector<int64_t> &at) {
    int64_t place = 0;
    for (size_t d = 0; d < blocks.image.size(); ++d) {
      int64_t x = at[blocks.image.size() + d] * blocks.strides[d] + at[d] * blocks.dilations[d] -
                  blocks.padsLow[d];
      place = place < 0 || x < 0 || x >= blocks.image[d] ? -1 : place * blocks.image[d] + x;
    }
    places.values[i++] = static_cast<double>(place);
  });
  return places;
}

int64_t blockCount(const Blocks &blocks) {
  Ints counts;
  for (size_t d = 0; d < blocks.image.size(); ++d)
    counts.push_back(blocksAlong(blocks, d));
  return product(counts);
}

} // namespace

Value gridSample(const Emitter &e, Value x, Value grid, const GridSampleOptions &options) {
  return GridSampler(e, x, grid, options).run();
}

Value affineGrid(const Emitter &e, Value theta, const Ints &sizes, bool alignCorners) {
  e.checkFloat(theta);
  auto dims = static_cast<int64_t>(sizes.size());
  Sizes found = shapeOf(theta);
  if (found.size() != 3 || found[1] != Polynomial(dims) || found[2] != Polynomial(dims + 1))
    fail("has theta ", showShape(found), " for ", dims, " dims, expected [n, ", dims, ", ",
         dims + 1, "]");
  for (int64_t size : sizes)
    if (size < 1)
      fail("has the sizes ", showInts(sizes), ", expected at least 1 each");
  if (product(sizes) > kMaxConstant / (dims + 1))
    fail("makes a grid of the sizes ", showInts(sizes), ", expected smaller ones");
  Tensor base(ElementType::F64, {product(sizes), dims + 1}, 1);
  int64_t row = 0;
  forEachIndex(sizes, [&](const std::vector<int64_t> &at) {
    for (int64_t d = 0; d < dims; ++d) {
      auto i = static_cast<double>(at[d]), n = static_cast<double>(sizes[d]);
      // One rounding, so that positions are symmetric about 0.
      double position =
          alignCorners ? (n > 1 ? (2 * i - (n - 1)) / (n - 1) : 0) : (2 * i + 1 - n) / n;
      base.values[row * (dims + 1) + dims - 1 - d] = position;
    }
    ++row;
  });
  Value positions = e.cast(e.constant(base), elementOf(theta));
  auto moved = DotGeneralOp::create(e.b, e.loc, theta, positions, Ints{}, Ints{}, Ints{2}, Ints{1});
  graph::markF32Region(moved, /*isInside=*/true); // positions are not rounded
  Sizes result = {found[0]};
  result.insert(result.end(), sizes.begin(), sizes.end());
  result.push_back(dims);
  return e.reshape(e.swapDims(moved, 1, 2), result);
}

Value columnsToImage(const Emitter &e, Value x, const Blocks &blocks) {
  checkBlocks(blocks);
  int64_t kernel = product(blocks.kernel), count = blockCount(blocks);
  Sizes found = shapeOf(x);
  std::optional<Polynomial> channels =
      found.size() == 3 ? found[1].dividedBy(Polynomial(kernel)) : std::nullopt;
  if (!channels || found[2] != Polynomial(count))
    fail("has columns ", showShape(found), ", expected [n, a multiple of ", kernel, ", ", count,
         "]");
  Value rows = e.reshape(x, {found[0], *channels, Polynomial(kernel) * count});
  Sizes flat = {found[0], *channels, product(blocks.image)}, image = {found[0], *channels};
  image.insert(image.end(), blocks.image.begin(), blocks.image.end());
  Value sum = ScatterOp::create(e.b, e.loc, e.type(flat, elementOf(x)), Reduction::Sum, rows,
                                e.constant(placesOf(blocks)), 2);
  return e.reshape(sum, image);
}

Value imageToColumns(const Emitter &e, Value x, const Blocks &blocks) {
  checkBlocks(blocks);
  Sizes found = shapeOf(x),
        expected(found.begin(), found.begin() + std::min<size_t>(2, found.size()));
  expected.insert(expected.end(), blocks.image.begin(), blocks.image.end());
  if (found.size() < 3 || found != expected)
    fail("has an image ", showShape(found), ", expected [n, c, ", showInts(blocks.image), "]");
  Value flat = e.reshape(x, {found[0], found[1], product(blocks.image)});
  Value rows = e.gather(flat, e.constant(placesOf(blocks)), 2);
  return e.reshape(rows, {found[0], found[1] * product(blocks.kernel), blockCount(blocks)});
}

Value centerCropPad(const Emitter &e, Value x, const Ints &axes, const Ints &sizes) {
  if (axes.size() != sizes.size())
    fail("has ", axes.size(), " axes and ", sizes.size(), " sizes, expected as many");
  for (auto [given, size] : llvm::zip(axes, sizes)) {
    int64_t axis = e.axis(given, rankOf(x));
    int64_t have = e.number(shapeOf(x)[axis], "size of a cropped dim");
    if (size <= have)
      x = e.slice(x, axis, (have - size) / 2, size);
    else
      x = e.pad(x, axis, (size - have) / 2, size - have - (size - have) / 2);
  }
  return x;
}

} // namespace cleave::emit
