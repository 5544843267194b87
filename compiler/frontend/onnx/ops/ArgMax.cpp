// ArgMax: operators on the positions of the largest elements: hardmax, max pooling with indices,
// and its inverse.
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/emit/Pooling.h"
#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/ops/Window.h"

#include <limits>

namespace cleave::onnx {
namespace {

using namespace emit;

// 1 at the first largest element along the dim, 0 elsewhere.
Value hardmax(NodeImport &n, Value x, int64_t dim) {
  Value at = argMinMax(n, x, dim, /*largest=*/true, /*keep=*/true);
  Value place = n.iota(shapeOf(x), dim, n.b.getI64Type());
  return n.cast(n.compare(Predicate::EQ, place, n.broadcast(at, shapeOf(x))), elementOf(x));
}

Values importHardmax13(NodeImport &n) {
  n.checkInputs(1, 1);
  return {hardmax(n, n.input(0), n.axisAttribute(-1))};
}

// Before opset 13: over all dims from the axis on, flattened.
Values importHardmax1(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  Sizes dims = shapeOf(x);
  int64_t axis = n.axisAttribute(1);
  auto rows = dims.takeFront(axis), columns = dims.dropFront(axis);
  return {n.reshape(hardmax(n, n.reshape(x, {product(rows), product(columns)}), 1), dims)};
}

// The index of every element in the whole tensor; with `columnMajor` the first spatial dim is
// innermost.
Value numbersOf(NodeImport &n, const Ints &sizes, bool columnMajor) {
  Sizes dims = toShape(sizes);
  auto rank = static_cast<int64_t>(sizes.size());
  Value sum;
  double stride = 1;
  for (int64_t i = rank; i-- > 0;) {
    int64_t dim = columnMajor && i >= 2 ? rank + 1 - i : i;
    Value part = n.mul(n.iota(dims, dim, n.b.getI64Type()), stride);
    sum = sum ? n.add(sum, part) : part;
    stride *= static_cast<double>(sizes[dim]);
  }
  return sum;
}

// The elements at `offset` of all windows.
Value elementsAt(NodeImport &n, Value padded, const Window &window,
                 const std::vector<int64_t> &offset) {
  for (size_t i = 0; i < window.rank(); ++i) {
    auto dim = static_cast<int64_t>(i + 2);
    int64_t size = n.number(shapeOf(padded)[dim], "size");
    int64_t count = (size - window.extent(i)) / window.strides[i] + 1;
    padded = n.slice(padded, dim, offset[i] * window.dilations[i], count, window.strides[i]);
  }
  return padded;
}

// The index of the first largest element of every window.
Value largestNumbers(NodeImport &n, Value x, const Window &window, bool columnMajor) {
  Value numbers = numbersOf(n, n.numbers(shapeOf(x), "size"), columnMajor);
  for (size_t i = 0; i < window.rank(); ++i) {
    auto dim = static_cast<int64_t>(i + 2);
    // Elements that no window reaches are cut off.
    x = padDim(n, x, dim, window.padsLow[i], window.padsHigh[i], PadMode::Constant,
               -std::numeric_limits<double>::infinity());
    numbers = padDim(n, numbers, dim, window.padsLow[i], window.padsHigh[i]);
  }
  Value best, at;
  forEachIndex(window.kernel, [&](const std::vector<int64_t> &offset) {
    Value element = elementsAt(n, x, window, offset),
          number = elementsAt(n, numbers, window, offset);
    Value isLarger = best ? n.compare(Predicate::GT, element, best) : Value();
    best = best ? n.select(isLarger, element, best) : element;
    at = at ? n.select(isLarger, number, at) : number;
  });
  return at;
}

Values importMaxPool(NodeImport &n) {
  bool columnMajor = n.integer("storage_order", 0);
  Value x = n.input(0);
  mlir::Type element = elementOf(x);
  if (!isFloat(x))
    x = n.cast(x, n.b.getF32Type()); // the integer types of pooling have 8 bits
  PoolOptions options = readPool(n);
  Values results{n.cast(maxPool(n, x, options), element)};
  if (!n.hasOutput(1))
    return results;
  constexpr int64_t kMaxElements = 1024; // of a window; each makes ops of its own
  int64_t elements = 1;
  for (int64_t size : options.window.kernel)
    elements = std::min(elements * std::min(size, kMaxElements + 1), kMaxElements + 1);
  if (elements > kMaxElements)
    fail("gives the places of the largest elements of windows of ", showInts(options.window.kernel),
         ", expected at most ", kMaxElements, " elements");
  Window window = fittedWindow(n, spatialOf(x), options.window, options.autoPad, options.ceil);
  results.push_back(largestNumbers(n, x, window, columnMajor));
  return results;
}

// Writes the elements at their indices into a larger tensor of zeros.
Values importMaxUnpool(NodeImport &n) {
  n.checkInputs(2, 3);
  Value x = n.input(0), numbers = n.input(1);
  Ints sizes = n.numbers(shapeOf(x), "size");
  WindowAttributes read = readWindow(n);
  Ints dense = sizes; // the shape to which the indices belong
  for (size_t i = 0; i < read.window.kernel.size(); ++i) {
    auto entry = [&](const Ints &list, int64_t absent) -> Polynomial {
      return i < list.size() ? list[i] : absent;
    };
    Polynomial size = Polynomial(sizes[i + 2] - 1) * entry(read.window.strides, 1) +
                      read.window.kernel[i] - entry(read.window.padsLow, 0) -
                      entry(read.window.padsHigh, 0);
    dense[i + 2] = n.number(size, "size");
  }
  Ints whole = n.hasInput(2) ? n.integersInput(2, "output shape") : dense;
  Polynomial count = product(toShape(dense));
  Value zeros = n.splat({count}, elementOf(x), 0), flat = n.reshape(x, {product(shapeOf(x))});
  Value at = n.reshape(numbers, shapeOf(flat));
  Value result =
      n.reshape(scatterElements(n, zeros, at, flat, 0, Combine::Replace), toShape(dense));
  for (size_t i = 2; i < whole.size(); ++i)
    result = padDim(n, result, static_cast<int64_t>(i), 0,
                    Polynomial(whole[i]) - n.dim(result, static_cast<int64_t>(i)));
  return {result};
}

constexpr OpEntry kArgMaxOps[] = {
    {"Hardmax", 1, importHardmax1},
    {"Hardmax", 13, importHardmax13},
    {"MaxPool", 1, importMaxPool},
    {"MaxUnpool", 9, importMaxUnpool},
};

} // namespace

llvm::ArrayRef<OpEntry> argMaxOps() { return kArgMaxOps; }

} // namespace cleave::onnx
