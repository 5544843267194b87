// See Slicing.h.
#include "compiler/frontend/emit/Slicing.h"

#include "dialects/graph/Symbols.h"

#include <algorithm>

namespace cleave::emit {

using namespace graph;

namespace {

// Exporters write at least this for "to the end".
constexpr int64_t kBeyond = (int64_t(1) << 31) - 1;
// The largest number of pieces of a split, and of single elements in padding.
constexpr int64_t kMaxPieces = 4096, kMaxChosen = int64_t(1) << 20;

bool isSurely(std::optional<bool> decided) { return decided.value_or(false); }

bool isBelow(const Polynomial &a, const Polynomial &b) {
  return isSurely(compare(Predicate::LT, {a}, {b}));
}

// Clamps a position of a slice to [low, high].
Polynomial clampedPlace(Polynomial at, const Polynomial &size, const Polynomial &low,
                        const Polynomial &high, const Emitter &e) {
  std::optional<int64_t> number = at.constant();
  if (number && *number >= kBeyond)
    return high;
  if (number && *number <= -kBeyond)
    return low;
  if (isBelow(at, 0))
    at += size;
  if (isSurely(compare(Predicate::LE, {at}, {low})))
    return low;
  if (isSurely(compare(Predicate::GE, {at}, {high})))
    return high;
  // A number that may be inside or outside of the dim.
  if (number && !isSurely(compare(Predicate::LE, {at}, {high})))
    fail("cuts at ", *number, " a dim of size ", size.str(), ": whether it reaches so far ",
         dependsOnSymbols(size.symbols()));
  e.evaluator.assume(at - low);
  e.evaluator.assume(high - at);
  return at;
}

} // namespace

Value sliceDim(const Emitter &e, Value x, int64_t dim, const Polynomial &start,
               const Polynomial &end, int64_t step) {
  if (step == 0)
    fail("has a step of 0");
  Polynomial size = shapeOf(x)[dim];
  Polynomial low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  // With a negative step, too, a start before the first element is clamped to it.
  Polynomial front = size == Polynomial() ? low : Polynomial();
  Polynomial first = clampedPlace(start, size, front, high, e),
             last = clampedPlace(end, size, low, high, e);
  Polynomial distance = step > 0 ? last - first : first - last;
  Polynomial count;
  if (!isSurely(compare(Predicate::LE, {distance}, {0}))) {
    e.evaluator.assume(distance);
    count = distance.ceilDividedBy(std::abs(step));
  }
  if (step < 0) {
    x = e.reverse(x, dim);
    first = size - 1 - first;
  }
  bool isOne = count == Polynomial(1), isEmpty = count == Polynomial();
  return e.slice(x, dim, isEmpty ? Polynomial() : first, count,
                 isOne || isEmpty ? 1 : std::abs(step));
}

Value takeOne(const Emitter &e, Value x, int64_t dim, const Polynomial &index) {
  Sizes dims = shapeOf(x);
  Polynomial at = isBelow(index, 0) ? index + dims[dim] : index;
  if (isBelow(at, 0) || isSurely(compare(Predicate::GE, {at}, {dims[dim]})))
    fail("takes element ", at.str(), " of dim ", dim, " of ", showShape(dims));
  return e.dropDim(e.slice(x, dim, at, 1), dim);
}

Values split(const Emitter &e, Value x, int64_t dim, const Sizes &sizes) {
  Polynomial total, size = shapeOf(x)[dim];
  for (const Polynomial &piece : sizes) {
    if (isBelow(piece, 0) || isBelow(size, piece))
      fail("cuts dim ", dim, " of ", showShape(shapeOf(x)), " into pieces of ", showShape(sizes));
    total += piece;
  }
  if (total != size)
    fail("cuts dim ", dim, " of size ", size.str(), " into pieces of ", showShape(sizes),
         ", which are ", total.str());
  Values pieces;
  Polynomial start;
  for (const Polynomial &piece : sizes) {
    pieces.push_back(e.slice(x, dim, start, piece));
    start += piece;
  }
  return pieces;
}

Sizes piecesOf(const Emitter &e, const Polynomial &total, const Polynomial &size) {
  if (std::optional<Polynomial> exact = total.dividedBy(size);
      exact && exact->constant().value_or(-1) >= 0 && *exact->constant() <= kMaxPieces)
    return Sizes(*exact->constant(), size);
  int64_t all = e.number(total, "size to be cut into pieces"), each = e.number(size, "piece");
  if (each < 1 || all / each > kMaxPieces)
    fail("cuts a dim of size ", all, " into pieces of ", each);
  Sizes sizes;
  for (int64_t start = 0; start < all; start += each)
    sizes.push_back(std::min(each, all - start));
  return sizes;
}

Sizes piecesBy(const Emitter &e, const Polynomial &total, int64_t count, bool unevenAllowed) {
  if (count < 1 || count > kMaxPieces)
    fail("cuts a dim into ", count, " pieces");
  if (std::optional<Polynomial> exact = total.dividedBy(count))
    return Sizes(count, *exact);
  if (!unevenAllowed)
    fail("cuts a dim of size ", total.str(), " into ", count, " equal pieces",
         (total.isConstant() ? "" : ", which " + dependsOnSymbols(total.symbols())));
  if (total.isConstant()) {
    Sizes sizes = piecesOf(e, total, total.ceilDividedBy(count));
    sizes.resize(count); // the last ones may be empty
    return sizes;
  }
  Polynomial each = total.ceilDividedBy(count);
  Sizes sizes(count, each);
  sizes.back() = total - each * (count - 1);
  e.evaluator.assume(sizes.back() - 1);
  return sizes;
}

// -- padding --------------------------------------------------------------------------------------

namespace {

// The source index of each element of a padded dim, for the modes that repeat elements.
Ints paddedSources(PadMode mode, int64_t size, int64_t low, int64_t high) {
  Ints sources;
  for (int64_t i = -low; i < size + high; ++i) {
    int64_t at = i;
    if (mode == PadMode::Edge) {
      at = std::clamp<int64_t>(i, 0, size - 1);
    } else if (mode == PadMode::Wrap) {
      at = ((i % size) + size) % size;
    } else { // the border is not repeated
      int64_t period = std::max<int64_t>(2 * size - 2, 1);
      at = ((i % period) + period) % period;
      at = at < size ? at : period - at;
    }
    sources.push_back(at);
  }
  return sources;
}

// `count` elements from `start` on, reversed or not.
Value border(const Emitter &e, Value x, int64_t dim, const Polynomial &start,
             const Polynomial &count, bool backwards) {
  Value piece = e.slice(x, dim, start, count);
  return backwards ? e.reverse(piece, dim) : piece;
}

// One element, `count` times.
Value repeated(const Emitter &e, Value x, int64_t dim, const Polynomial &at,
               const Polynomial &count) {
  Value one = e.slice(x, dim, at, 1);
  Sizes dims = shapeOf(one);
  dims[dim] = count;
  return e.broadcast(one, dims);
}

// The padded dim as pieces of the operand, if no element occurs twice on one side.
Value padByPieces(const Emitter &e, Value x, int64_t dim, const Polynomial &low,
                  const Polynomial &high, PadMode mode) {
  Polynomial size = shapeOf(x)[dim];
  Values pieces;
  auto addBorder = [&](bool front) {
    const Polynomial &count = front ? low : high;
    if (count == Polynomial())
      return;
    if (mode == PadMode::Edge)
      pieces.push_back(repeated(e, x, dim, front ? 0 : size - 1, count));
    else if (mode == PadMode::Wrap)
      pieces.push_back(border(e, x, dim, front ? size - count : 0, count, false));
    else
      pieces.push_back(border(e, x, dim, front ? 1 : size - 1 - count, count, true));
  };
  addBorder(true);
  pieces.push_back(x);
  addBorder(false);
  return e.concat(pieces, dim);
}

Value padFromItself(const Emitter &e, Value x, int64_t dim, const Polynomial &low,
                    const Polynomial &high, PadMode mode) {
  Polynomial size = shapeOf(x)[dim];
  Polynomial most = mode == PadMode::Reflect ? size - 1 : size;
  if (size == Polynomial())
    fail("pads a dim of size 0 by elements of its own");
  bool reaches = !isBelow(most, low) && !isBelow(most, high);
  if (mode == PadMode::Edge || reaches)
    return padByPieces(e, x, dim, low, high, mode);
  int64_t known = e.number(size, "padded size"), front = e.number(low, "padding"),
          back = e.number(high, "padding");
  if (std::max({known, front, back}) > kMaxChosen || known + front + back > kMaxChosen)
    fail("pads a dim of size ", size.str(), " by ", (low + high).str(), " elements of its own");
  return e.gather(x, e.integers(paddedSources(mode, known, front, back)), dim);
}

} // namespace

Value padDim(const Emitter &e, Value x, int64_t dim, const Polynomial &low, const Polynomial &high,
             PadMode mode, double fill) {
  // Negative padding removes elements.
  if (isBelow(low, 0) || isBelow(high, 0)) {
    Polynomial front = isBelow(low, 0) ? low * -1 : 0, back = isBelow(high, 0) ? high * -1 : 0;
    Polynomial size = shapeOf(x)[dim];
    if (isBelow(size, front + back))
      fail("cuts more off dim ", dim, " than its size ", size.str());
    x = e.slice(x, dim, front, size - front - back);
    return padDim(e, x, dim, low + front, high + back, mode, fill);
  }
  if (low == Polynomial() && high == Polynomial())
    return x;
  if (mode == PadMode::Constant)
    return e.pad(x, dim, low, high, fill);
  return padFromItself(e, x, dim, low, high, mode);
}

} // namespace cleave::emit
