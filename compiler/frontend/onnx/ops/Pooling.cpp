// Pooling, and the attributes of sliding windows.
#include "compiler/frontend/emit/Pooling.h"

#include "compiler/frontend/onnx/ops/Window.h"

namespace cleave::onnx {
namespace {

Values importAveragePool(NodeImport &n) {
  emit::PoolOptions options = readPool(n);
  options.countPadding = n.integer("count_include_pad", 0);
  return {emit::averagePool(n, n.input(0), options)};
}

Values importLpPool(NodeImport &n) {
  emit::PoolOptions options = readPool(n);
  return {emit::lpPool(n, n.input(0), static_cast<double>(n.integer("p", 2)), options)};
}

template <Value (*function)(const emit::Emitter &, Value)> Values global(NodeImport &n) {
  n.checkInputs(1, 1);
  return {function(n, n.input(0))};
}

Values importGlobalLpPool(NodeImport &n) {
  n.checkInputs(1, 1);
  return {emit::globalLpPool(n, n.input(0), static_cast<double>(n.integer("p", 2)))};
}

constexpr OpEntry kPoolingOps[] = {
    {"AveragePool", 1, importAveragePool},
    {"GlobalAveragePool", 1, global<emit::globalAveragePool>},
    {"GlobalLpPool", 2, importGlobalLpPool},
    {"GlobalMaxPool", 1, global<emit::globalMaxPool>},
    {"LpPool", 2, importLpPool},
};

void readPads(NodeImport &n, emit::Window &window) {
  std::optional<Ints> pads = n.integers("pads");
  if (!pads)
    return;
  if (pads->size() % 2)
    fail("attribute 'pads' has ", pads->size(), " entries, expected two per spatial dim");
  auto middle = pads->begin() + static_cast<int64_t>(pads->size() / 2);
  window.padsLow.assign(pads->begin(), middle);
  window.padsHigh.assign(middle, pads->end());
}

} // namespace

WindowAttributes readWindow(NodeImport &n) {
  WindowAttributes read;
  read.window.kernel = n.integers("kernel_shape").value_or(Ints());
  read.window.strides = n.integers("strides").value_or(Ints());
  read.window.dilations = n.integers("dilations").value_or(Ints());
  readPads(n, read.window);
  std::string automatic = n.string("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty())
    return read;
  read.window.padsLow.clear();
  read.window.padsHigh.clear();
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    read.autoPad = automatic == "SAME_UPPER" ? emit::AutoPad::SameUpper : emit::AutoPad::SameLower;
  else if (automatic != "VALID")
    fail("attribute 'auto_pad' is '", automatic,
         "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return read;
}

void padToSizes(NodeImport &n, Ints sizes, Ints &outputPadding, WindowAttributes &read) {
  n.checkRank(n.input(0), 2);
  n.checkRank(n.input(1), 2);
  Sizes spatial = emit::spatialOf(n.input(0));
  if (sizes.size() == spatial.size() + 2)
    sizes.erase(sizes.begin(), sizes.begin() + 2);
  if (sizes.size() != spatial.size())
    fail("attribute 'output_shape' has ", sizes.size(), " entries, expected one per spatial dim");
  emit::Window &window = read.window;
  if (window.kernel.empty())
    window.kernel = n.numbers(emit::spatialOf(n.input(1)), "kernel");
  window.padsLow.clear();
  window.padsHigh.clear();
  constexpr int64_t most = int64_t(1) << 31;
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto entry = [&](const Ints &list, int64_t absent) {
      int64_t number = i < list.size() ? list[i] : absent;
      if (number < 0 || number > most)
        fail("has a window with the number ", number, ", expected 0 to 2^31");
      return number;
    };
    int64_t extent = (entry(window.kernel, 1) - 1) * entry(window.dilations, 1) + 1;
    Polynomial whole = (spatial[i] - 1) * entry(window.strides, 1) + extent;
    outputPadding.resize(sizes.size(), 0);
    int64_t pad = n.number(whole + entry(outputPadding, 0) - sizes[i], "padding");
    if (std::abs(pad) > most)
      fail("pads by ", pad, " elements");
    if (pad < 0) // the result is larger than the windows reach: zeros behind them
      outputPadding[i] -= pad;
    pad = std::max<int64_t>(pad, 0);
    window.padsLow.push_back(read.autoPad == emit::AutoPad::SameUpper ? pad / 2 : pad - pad / 2);
    window.padsHigh.push_back(pad - window.padsLow.back());
  }
  read.autoPad = emit::AutoPad::None;
}

emit::PoolOptions readPool(NodeImport &n) {
  n.checkInputs(1, 1);
  if (!n.hasAttribute("kernel_shape"))
    fail("attribute 'kernel_shape' is missing");
  WindowAttributes read = readWindow(n);
  emit::PoolOptions options;
  options.window = read.window;
  options.autoPad = read.autoPad;
  options.ceil = n.integer("ceil_mode", 0);
  return options;
}

llvm::ArrayRef<OpEntry> poolingOps() { return kPoolingOps; }

} // namespace cleave::onnx
