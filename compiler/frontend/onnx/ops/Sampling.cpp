// Sampling: images sampled at positions that are data, assembled from windows, or cropped about
// their centres; and Fourier transforms.
#include "compiler/frontend/emit/Sampling.h"

#include "compiler/frontend/emit/Spectral.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

Values importGridSample(NodeImport &n) {
  n.checkInputs(2, 2);
  GridSampleOptions options;
  std::string mode = n.string("mode", "linear"), padding = n.string("padding_mode", "zeros");
  if (mode == "nearest")
    options.interpolation = Interpolation::Nearest;
  else if (mode == "cubic" || mode == "bicubic")
    options.interpolation = Interpolation::Cubic;
  else if (mode != "linear" && mode != "bilinear")
    fail("attribute 'mode' is '", mode, "', expected nearest, linear or cubic");
  if (padding == "border")
    options.border = Border::Edge;
  else if (padding == "reflection")
    options.border = Border::Reflection;
  else if (padding != "zeros")
    fail("attribute 'padding_mode' is '", padding, "', expected zeros, border or reflection");
  options.alignCorners = n.integer("align_corners", 0);
  return {gridSample(n, n.input(0), n.input(1), options)};
}

Values importAffineGrid(NodeImport &n) {
  n.checkInputs(2, 2);
  Ints sizes = n.integersInput(1, "size");
  if (sizes.size() < 3)
    fail("has a size of ", sizes.size(), " numbers, expected [n, c, …]");
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  return {affineGrid(n, n.input(0), sizes, n.integer("align_corners", 0))};
}

Values importCol2Im(NodeImport &n) {
  n.checkInputs(3, 3);
  Blocks blocks;
  blocks.image = n.integersInput(1, "image shape");
  blocks.kernel = n.integersInput(2, "block shape");
  size_t dims = blocks.image.size();
  blocks.strides = n.integers("strides").value_or(Ints(dims, 1));
  blocks.dilations = n.integers("dilations").value_or(Ints(dims, 1));
  Ints pads = n.integers("pads").value_or(Ints(2 * dims, 0));
  if (pads.size() != 2 * dims)
    fail("attribute 'pads' has ", pads.size(), " entries, expected two per dim");
  blocks.padsLow.assign(pads.begin(), pads.begin() + static_cast<int64_t>(dims));
  blocks.padsHigh.assign(pads.begin() + static_cast<int64_t>(dims), pads.end());
  return {columnsToImage(n, n.input(0), blocks)};
}

Values importCenterCropPad(NodeImport &n) {
  n.checkInputs(2, 2);
  Ints axes = n.integers("axes").value_or(dimsFrom(0, n.rank()));
  return {centerCropPad(n, n.input(0), axes, n.integersInput(1, "shape"))};
}

// -- transforms -----------------------------------------------------------------------------------

// The signal without its last dim, which holds real numbers, or real and imaginary parts.
Complex complexOf(NodeImport &n, Value x) {
  int64_t last = rankOf(x) - 1;
  int64_t parts = last < 0 ? 0 : n.number(shapeOf(x)[last], "number of parts");
  if (parts != 1 && parts != 2)
    fail("has data ", showShape(shapeOf(x)), ", expected 1 or 2 in the last dim");
  auto part = [&](int64_t i) { return n.dropDim(n.slice(x, last, i, 1), last); };
  return {part(0), parts == 2 ? part(1) : Value()};
}

Value joined(NodeImport &n, const Complex &x) {
  int64_t rank = rankOf(x.real);
  return n.concat({n.insertDim(x.real, rank), n.insertDim(x.imaginary, rank)}, rank);
}

Values transform(NodeImport &n, int64_t axis) {
  Value x = n.input(0);
  axis = n.axis(axis, rankOf(x));
  if (axis == rankOf(x) - 1)
    fail("transforms the last dim, which holds real and imaginary parts");
  bool inverse = n.integer("inverse", 0), onesided = n.integer("onesided", 0);
  int64_t size = n.number(shapeOf(x)[axis], "number of transformed elements");
  int64_t length = n.hasInput(1)         ? n.integerInput(1, "length")
                   : inverse && onesided ? 2 * (size - 1)
                                         : size;
  Complex signal = complexOf(n, x);
  if (!inverse)
    return {joined(n, fourier(n, signal, axis, length, onesided))};
  if (!onesided)
    return {joined(n, inverseFourier(n, signal, axis, length))};
  return {n.insertDim(inverseRealFourier(n, signal, axis, length), rankOf(x) - 1)};
}

Values importDft17(NodeImport &n) {
  n.checkInputs(1, 2);
  return transform(n, n.integer("axis", 1));
}

Values importDft20(NodeImport &n) {
  n.checkInputs(1, 3);
  return transform(n, n.hasInput(2) ? n.integerInput(2, "axis") : -2);
}

Values importStft(NodeImport &n) {
  n.checkInputs(2, 4);
  Value signal = n.input(0), window = n.optionalInput(2);
  Complex parts = rankOf(signal) == 2 ? Complex{signal, {}} : complexOf(n, signal);
  int64_t length = n.hasInput(3) ? n.integerInput(3, "frame length")
                   : window      ? n.number(n.dim(window, 0), "size of the window")
                                 : n.number(n.dim(signal, 1), "length of the signal");
  bool onesided = n.integer("onesided", 1);
  return {joined(
      n, shortTimeFourier(n, parts, window, length, n.integerInput(1, "frame step"), onesided))};
}

constexpr OpEntry kSamplingOps[] = {
    {"AffineGrid", 20, importAffineGrid},
    {"CenterCropPad", 18, importCenterCropPad},
    {"Col2Im", 18, importCol2Im},
    {"DFT", 17, importDft17},
    {"DFT", 20, importDft20},
    {"GridSample", 16, importGridSample},
    {"STFT", 17, importStft},
};

} // namespace

llvm::ArrayRef<OpEntry> samplingOps() { return kSamplingOps; }

} // namespace cleave::onnx
