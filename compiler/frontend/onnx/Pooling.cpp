// Pooling, and the sliding window that it shares with convolutions.
#include "compiler/frontend/onnx/Window.h"

namespace cleave::onnx {
namespace {

using namespace graph;

// What the kernel covers of one dim.
int64_t extent(const Window &window, size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

void checkEntries(const Dims &values, size_t count, int64_t atLeast, const char *what) {
  if (values.size() != count)
    fail(std::string(what) + " has " + std::to_string(values.size()) + " entries, expected " +
         std::to_string(count));
  for (int64_t value : values)
    if (value < atLeast || value > (int64_t(1) << 31))
      fail(std::string(what) + " " + showDims(values) + " has an entry that is out of range");
}

// SAME_UPPER and SAME_LOWER: as many windows as strides fit, the padding halved.
void padSame(Window &window, const Dims &spatial, bool upper) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t count = (spatial[i] + window.strides[i] - 1) / window.strides[i];
    int64_t pad =
        std::max<int64_t>(0, (count - 1) * window.strides[i] + extent(window, i) - spatial[i]);
    window.padsLow[i] = upper ? pad / 2 : pad - pad / 2;
    window.padsHigh[i] = pad - window.padsLow[i];
  }
}

void readPads(NodeImport &n, Window &window, const Dims &spatial) {
  size_t count = spatial.size();
  std::string automatic = n.text("auto_pad", "NOTSET");
  Dims pads = n.integers("pads").value_or(Dims(2 * count, 0));
  checkEntries(pads, 2 * count, 0, "attribute 'pads'");
  window.padsLow.assign(pads.begin(), pads.begin() + count);
  window.padsHigh.assign(pads.begin() + count, pads.end());
  if (automatic == "NOTSET")
    return;
  if (automatic == "VALID") {
    window.padsLow.assign(count, 0);
    window.padsHigh.assign(count, 0);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padSame(window, spatial, automatic == "SAME_UPPER");
  } else {
    fail("attribute 'auto_pad' is '" + automatic +
         "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
}

// The last window may end outside, but has to begin inside the data or the padding in front.
void roundUp(Window &window, const Dims &spatial) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t stride = window.strides[i];
    int64_t free = spatial[i] + window.padsLow[i] + window.padsHigh[i] - extent(window, i);
    int64_t windows = (free + stride - 1) / stride + 1;
    if ((windows - 1) * stride >= spatial[i] + window.padsLow[i])
      --windows;
    window.padsHigh[i] += (windows - 1) * stride - free;
  }
}

struct PoolOperand {
  Value x;
  Dims spatial;
};

PoolOperand readOperand(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  Dims dims = dimsOf(x);
  if (dims.size() < 3)
    fail("has data " + showDims(dims) + ", expected at least 3 dims");
  return {x, Dims(dims.begin() + 2, dims.end())};
}

Values pool(NodeImport &n, PoolKind kind, bool countPadding) {
  PoolOperand operand = readOperand(n);
  bool ceil = n.integer("ceil_mode", 0);
  Window window = readWindow(n, operand.spatial, {}, ceil);
  return {PoolOp::create(n.b, n.loc, operand.x, kind, window.kernel, window.strides,
                         window.dilations, window.padsLow, window.padsHigh, countPadding)};
}

Values importMaxPool(NodeImport &n) {
  n.ignore({"storage_order"}); // about the second output
  return pool(n, PoolKind::Max, false);
}

Values importAveragePool(NodeImport &n) {
  bool countPadding = n.integer("count_include_pad", 0);
  if (countPadding && n.integer("ceil_mode", 0))
    fail("counts padding and rounds up at once (count_include_pad with ceil_mode), which Cleave "
         "does not do");
  return pool(n, PoolKind::Average, countPadding);
}

Value overSpatialDims(NodeImport &n, bool average) {
  auto [x, spatial] = readOperand(n);
  Dims over, kept = dimsOf(x);
  for (int64_t i = 2; i < rankOf(x); ++i) {
    over.push_back(i);
    kept[i] = 1;
  }
  Value reduced = average ? buildMean(n.b, x, over) : buildReduce(n.b, Reduction::Max, x, over);
  return n.reshape(reduced, kept);
}

Values importGlobalAveragePool(NodeImport &n) { return {overSpatialDims(n, true)}; }
Values importGlobalMaxPool(NodeImport &n) { return {overSpatialDims(n, false)}; }

constexpr OpEntry kOps[] = {
    {"AveragePool", 7, importAveragePool},
    {"GlobalAveragePool", 1, importGlobalAveragePool},
    {"GlobalMaxPool", 1, importGlobalMaxPool},
    {"MaxPool", 8, importMaxPool},
};

} // namespace

Window readWindow(NodeImport &n, const Dims &spatial, Dims kernel, bool ceil) {
  size_t count = spatial.size();
  std::optional<Dims> stated = n.integers("kernel_shape");
  if (kernel.empty() && !stated)
    fail("attribute 'kernel_shape' is missing");
  if (!kernel.empty() && stated && *stated != kernel)
    fail("attribute 'kernel_shape' is " + showDims(*stated) + ", but the weight's kernel is " +
         showDims(kernel));
  Window window;
  window.kernel = kernel.empty() ? *stated : kernel;
  window.strides = n.integers("strides").value_or(Dims(count, 1));
  window.dilations = n.integers("dilations").value_or(Dims(count, 1));
  checkEntries(window.kernel, count, 1, "the kernel");
  checkEntries(window.strides, count, 1, "attribute 'strides'");
  checkEntries(window.dilations, count, 1, "attribute 'dilations'");
  readPads(n, window, spatial);
  for (size_t i = 0; i < count; ++i)
    if (spatial[i] + window.padsLow[i] + window.padsHigh[i] < extent(window, i))
      fail("has a window of " + std::to_string(extent(window, i)) +
           " elements over a dim of size " + std::to_string(spatial[i]) + " with padding " +
           std::to_string(window.padsLow[i]) + " and " + std::to_string(window.padsHigh[i]));
  if (ceil)
    roundUp(window, spatial);
  return window;
}

llvm::ArrayRef<OpEntry> poolingOps() { return kOps; }

} // namespace cleave::onnx
