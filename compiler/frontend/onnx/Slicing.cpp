// Slicing: parts of a tensor (Slice, Split) and the padded whole (Pad).
#include "compiler/frontend/onnx/NodeImport.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

using namespace graph;

// Elements start, start + step, … before (step < 0: behind) end of one dim, with numpy's clamping.
Value sliceDim(NodeImport &n, Value x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  int64_t size = dimsOf(x)[dim];
  auto place = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  if (step > 0) {
    start = place(start, 0, size);
    end = place(end, 0, size);
    int64_t count = end > start ? (end - start - 1) / step + 1 : 0;
    return n.slice(x, dim, count ? start : 0, count, count > 1 ? step : 1);
  }
  start = place(start, -1, size - 1);
  end = place(end, -1, size - 1);
  int64_t count = start > end ? (start - end - 1) / -step + 1 : 0;
  Value reversed = ReverseOp::create(n.b, n.loc, x.getType(), x, dim);
  return n.slice(reversed, dim, count ? size - 1 - start : 0, count, count > 1 ? -step : 1);
}

Values importSlice(NodeImport &n) {
  n.checkInputs(3, 5);
  Value x = n.input(0);
  Dims starts = n.constantIntegers(1, "starts"), ends = n.constantIntegers(2, "ends");
  Dims axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (n.hasInput(3))
    axes = n.constantIntegers(3, "axes");
  if (n.hasInput(4))
    steps = n.constantIntegers(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    fail("has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) +
         " ends, " + std::to_string(axes.size()) + " axes and " + std::to_string(steps.size()) +
         " steps, expected equally many");
  n.axes(axes, rankOf(x));
  for (size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0)
      fail("has a step of 0");
    x = sliceDim(n, x, n.axis(axes[i], rankOf(x)), starts[i], ends[i], steps[i]);
  }
  return {x};
}

// One piece per size.
Values cut(NodeImport &n, Value x, int64_t axis, const Dims &sizes) {
  int64_t total = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > dimsOf(x)[axis])
      fail("cuts dim " + std::to_string(axis) + " of " + showDims(dimsOf(x)) + " into pieces of " +
           showDims(sizes));
    total += size;
  }
  if (total != dimsOf(x)[axis])
    fail("cuts dim " + std::to_string(axis) + " of size " + std::to_string(dimsOf(x)[axis]) +
         " into pieces of " + showDims(sizes) + ", which are " + std::to_string(total));
  Values pieces;
  int64_t start = 0;
  for (int64_t size : sizes) {
    pieces.push_back(n.slice(x, axis, start, size));
    start += size;
  }
  return pieces;
}

// Pieces of one size, the last one smaller if need be.
Dims evenly(int64_t total, int64_t size) {
  Dims sizes;
  for (int64_t start = 0; start < total; start += size)
    sizes.push_back(std::min(size, total - start));
  return sizes;
}

Values split(NodeImport &n, std::optional<Dims> sizes, bool unevenAllowed) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), rankOf(x)), total = dimsOf(x)[axis];
  auto count = static_cast<int64_t>(n.node.outputs.size());
  if (!sizes && count > 0) {
    int64_t size = (total + count - 1) / count;
    if (total % count && !unevenAllowed)
      fail("cuts a dim of size " + std::to_string(total) + " into " + std::to_string(count) +
           " equal pieces");
    sizes = size ? evenly(total, size) : Dims(count, 0);
  }
  if (!sizes || static_cast<int64_t>(sizes->size()) != count)
    fail("has " + std::to_string(count) + " outputs for " +
         std::to_string(sizes ? sizes->size() : 0) + " pieces");
  return cut(n, x, axis, *sizes);
}

Values importSplit2(NodeImport &n) {
  n.checkInputs(1, 1);
  return split(n, n.integers("split"), false);
}

std::optional<Dims> sizesInput(NodeImport &n) {
  n.checkInputs(1, 2);
  return n.hasInput(1) ? std::optional(n.constantIntegers(1, "sizes")) : std::nullopt;
}

Values importSplit13(NodeImport &n) { return split(n, sizesInput(n), false); }

Values importSplit18(NodeImport &n) {
  int64_t count = n.integer("num_outputs", static_cast<int64_t>(n.node.outputs.size()));
  if (count != static_cast<int64_t>(n.node.outputs.size()))
    fail("has " + std::to_string(n.node.outputs.size()) + " outputs, but num_outputs is " +
         std::to_string(count));
  return split(n, sizesInput(n), true);
}

Values importSplitToSequence(NodeImport &n) {
  n.checkInputs(1, 2);
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), rankOf(x)), total = dimsOf(x)[axis];
  bool keepDims = n.integer("keepdims", 1);
  bool bySize = n.hasInput(1) && rankOf(n.input(1)) == 0;
  Dims sizes;
  if (n.hasInput(1) && !bySize)
    sizes = n.constantIntegers(1, "sizes");
  else if (int64_t size = bySize ? n.constantInteger(1, "size") : 1;
           size > 0 && total / size <= 4096)
    sizes = evenly(total, size);
  else
    fail("cuts a dim of size " + std::to_string(total) + " into pieces of " + std::to_string(size));
  Values pieces = cut(n, x, axis, sizes);
  if (n.hasInput(1) || keepDims)
    return pieces;
  Dims dims = dimsOf(x);
  dims.erase(dims.begin() + axis);
  for (Value &piece : pieces)
    piece = n.reshape(piece, dims);
  return pieces;
}

// Where the elements of a padded dim come from, for the modes that repeat elements.
Dims paddedSources(const std::string &mode, int64_t size, int64_t low, int64_t high) {
  Dims sources;
  for (int64_t i = -low; i < size + high; ++i) {
    int64_t at = i;
    if (mode == "edge") {
      at = std::clamp<int64_t>(i, 0, size - 1);
    } else if (mode == "wrap") {
      at = ((i % size) + size) % size;
    } else { // reflect, without repeating the border
      int64_t period = std::max<int64_t>(2 * size - 2, 1);
      at = ((i % period) + period) % period;
      at = at < size ? at : period - at;
    }
    sources.push_back(at);
  }
  return sources;
}

Value padDim(NodeImport &n, Value x, int64_t dim, int64_t low, int64_t high,
             const std::string &mode, double value) {
  Dims dims = dimsOf(x);
  // Negative padding cuts off.
  if (low < 0 || high < 0) {
    int64_t front = std::max<int64_t>(-low, 0), back = std::max<int64_t>(-high, 0);
    if (front + back > dims[dim])
      fail("cuts more off dim " + std::to_string(dim) + " than its size " +
           std::to_string(dims[dim]));
    x = n.slice(x, dim, front, dims[dim] - front - back);
    return padDim(n, x, dim, std::max<int64_t>(low, 0), std::max<int64_t>(high, 0), mode, value);
  }
  if (low == 0 && high == 0)
    return x;
  int64_t size = dims[dim];
  dims[dim] = size + low + high;
  auto type = n.type(dims, elementOf(x));
  if (mode == "constant")
    return PadOp::create(n.b, n.loc, type, x, n.b.getI64IntegerAttr(dim),
                         n.b.getI64IntegerAttr(low), n.b.getI64IntegerAttr(0),
                         n.b.getF64FloatAttr(value));
  if (size == 0 || dims[dim] > (1 << 20))
    fail("pads a dim of size " + std::to_string(size) + " by " + std::to_string(low + high) +
         " elements of its own");
  return GatherOp::create(n.b, n.loc, x, n.constantIntegers(paddedSources(mode, size, low, high)),
                          dim);
}

Values importPad(NodeImport &n) {
  n.checkInputs(2, 4);
  Value x = n.input(0);
  std::string mode = n.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    fail("attribute 'mode' is '" + mode + "', expected constant, reflect, edge or wrap");
  Dims pads = n.constantIntegers(1, "pads");
  double value = n.hasInput(2) ? n.constantNumber(2, "value") : 0;
  Dims axes;
  if (n.hasInput(3))
    axes = n.constantIntegers(3, "axes");
  else
    for (int64_t i = 0; i < rankOf(x); ++i)
      axes.push_back(i);
  n.axes(axes, rankOf(x));
  size_t count = axes.size();
  if (pads.size() != 2 * count)
    fail("has " + std::to_string(pads.size()) + " pads for " + std::to_string(count) +
         " dims, expected twice as many");
  for (int64_t pad : pads)
    if (std::abs(pad) > (int64_t(1) << 40))
      fail("pads by " + std::to_string(pad) + " elements");
  for (size_t i = 0; i < count; ++i)
    x = padDim(n, x, n.axis(axes[i], rankOf(x)), pads[i], pads[count + i], mode, value);
  return {x};
}

constexpr OpEntry kOps[] = {
    {"Pad", 11, importPad},
    {"Slice", 10, importSlice},
    {"Split", 2, importSplit2},
    {"Split", 13, importSplit13},
    {"Split", 18, importSplit18},
    {"SplitToSequence", 11, importSplitToSequence, /*givesSequence=*/true},
};

} // namespace

llvm::ArrayRef<OpEntry> slicingOps() { return kOps; }

} // namespace cleave::onnx
