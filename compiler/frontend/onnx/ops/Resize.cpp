// Resize and Upsample.
#include "compiler/frontend/emit/Resize.h"

#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using namespace emit;

template <typename T>
T choice(NodeImport &n, const std::string &name, const std::string &absent,
         std::initializer_list<std::pair<const char *, T>> known) {
  std::string text = n.string(name, absent);
  for (const auto &[word, value] : known)
    if (text == word)
      return value;
  fail("attribute '", name, "' is '", text, "', which is not known");
}

Interpolation modeAttribute(NodeImport &n) {
  return choice<Interpolation>(n, "mode", "nearest",
                               {{"nearest", Interpolation::Nearest},
                                {"linear", Interpolation::Linear},
                                {"bilinear", Interpolation::Linear},
                                {"cubic", Interpolation::Cubic}});
}

ResizeOptions readResize(NodeImport &n) {
  ResizeOptions options;
  options.interpolation = modeAttribute(n);
  options.coordinates =
      choice<Coordinates>(n, "coordinate_transformation_mode", "half_pixel",
                          {{"half_pixel", Coordinates::HalfPixel},
                           {"half_pixel_symmetric", Coordinates::HalfPixelSymmetric},
                           {"pytorch_half_pixel", Coordinates::PytorchHalfPixel},
                           {"align_corners", Coordinates::AlignCorners},
                           {"asymmetric", Coordinates::Asymmetric},
                           {"tf_half_pixel_for_nn", Coordinates::HalfPixelNearest},
                           {"tf_crop_and_resize", Coordinates::CropAndResize}});
  options.rounding = choice<NearestRounding>(n, "nearest_mode", "round_prefer_floor",
                                             {{"round_prefer_floor", NearestRounding::PreferFloor},
                                              {"round_prefer_ceil", NearestRounding::PreferCeil},
                                              {"floor", NearestRounding::Floor},
                                              {"ceil", NearestRounding::Ceil}});
  options.cubic = n.decimal("cubic_coeff_a", -0.75);
  options.excludeOutside = n.integer("exclude_outside", 0);
  options.antialias = n.integer("antialias", 0);
  options.extrapolation = n.decimal("extrapolation_value", 0);
  return options;
}

// The numbers at input i, which must be known; none where it is left out or empty.
std::vector<double> numbersInput(NodeImport &n, size_t i, const std::string &what) {
  if (!n.hasInput(i) || shapeOf(n.input(i)) == Sizes{0})
    return {};
  return n.tensorInput(i, what).values;
}

void checkCount(size_t found, size_t expected, const char *what) {
  if (found != expected)
    fail("has ", found, " ", what, ", expected ", expected);
}

// The resized axes. Those with scale 1 are left out and may have any size.
std::vector<ResizeAxis> axesFromScales(NodeImport &n, const Ints &dims,
                                       const std::vector<double> &scales) {
  checkCount(scales.size(), dims.size(), "scales");
  std::vector<ResizeAxis> axes;
  for (auto [dim, scale] : llvm::zip(dims, scales)) {
    if (!(scale > 0) || scale > 1e6)
      fail("has the scale ", scale, ", expected a positive one");
    if (scale == 1)
      continue;
    int64_t input = n.number(shapeOf(n.input(0))[dim], "size of a resized dim");
    // In float32, the precision of the scales: 10 elements times 0.7 are 7, not 6.999….
    float output = std::floor(static_cast<float>(input) * static_cast<float>(scale));
    axes.push_back({dim, emit::truncated(output), scale});
  }
  return axes;
}

std::vector<ResizeAxis> axesFromSizes(NodeImport &n, const Ints &dims, const Sizes &sizes) {
  checkCount(sizes.size(), dims.size(), "sizes");
  std::string policy = n.string("keep_aspect_ratio_policy", "stretch");
  std::vector<ResizeAxis> axes;
  for (auto [dim, size] : llvm::zip(dims, sizes))
    if (Polynomial have = shapeOf(n.input(0))[dim]; have != size || policy != "stretch")
      axes.push_back({dim, n.number(size, "size of a resized dim"), {}});
  if (policy == "stretch" || axes.empty())
    return axes;
  if (policy != "not_larger" && policy != "not_smaller")
    fail("attribute 'keep_aspect_ratio_policy' is '", policy, "', which is not known");
  std::vector<double> scales;
  for (const ResizeAxis &axis : axes)
    scales.push_back(
        static_cast<double>(axis.output) /
        static_cast<double>(n.number(shapeOf(n.input(0))[axis.dim], "size of a resized dim")));
  double scale = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                        : *std::max_element(scales.begin(), scales.end());
  for (ResizeAxis &axis : axes) {
    double input = static_cast<double>(*shapeOf(n.input(0))[axis.dim].constant());
    axis.output = emit::truncated(std::floor(scale * input + 0.5));
    axis.scale = scale;
  }
  return axes;
}

// Reads the region of CropAndResize (all begins, then all ends) into the axes.
void readRegions(NodeImport &n, size_t input, const Ints &dims, std::vector<ResizeAxis> &axes) {
  std::vector<double> roi = numbersInput(n, input, "region");
  checkCount(roi.size(), 2 * dims.size(), "numbers of a region");
  for (auto [i, dim] : llvm::enumerate(dims)) {
    double begin = roi[i], end = roi[dims.size() + i];
    auto axis = llvm::find_if(axes, [&, d = dim](const ResizeAxis &a) { return a.dim == d; });
    if (axis == axes.end() && (begin != 0 || end != 1))
      axis = axes.insert(axes.end(),
                         {dim, n.number(shapeOf(n.input(0))[dim], "size of a resized dim"), {}});
    if (axis != axes.end())
      axis->begin = begin, axis->end = end;
  }
}

Values importResize(NodeImport &n) {
  n.checkInputs(1, 4);
  Value x = n.input(0);
  ResizeOptions options = readResize(n);
  Ints dims = dimsFrom(0, rankOf(x));
  if (std::optional<Ints> chosen = n.integers("axes")) {
    n.axes(*chosen, rankOf(x)); // fails for one that occurs twice
    dims.clear();
    for (int64_t axis : *chosen)
      dims.push_back(n.axis(axis, rankOf(x)));
  }
  std::vector<double> scales = numbersInput(n, 2, "scales");
  bool bySizes = n.hasInput(3) && shapeOf(n.input(3)) != Sizes{0};
  if (bySizes == !scales.empty())
    fail("needs either scales or sizes");
  n.ignore({"keep_aspect_ratio_policy"}); // without effect on scales
  std::vector<ResizeAxis> axes =
      bySizes ? axesFromSizes(n, dims, n.sizesInput(3, "sizes")) : axesFromScales(n, dims, scales);
  if (options.coordinates == Coordinates::CropAndResize)
    readRegions(n, 1, dims, axes);
  else
    n.ignoreInput(1);
  return {resize(n, x, axes, options)};
}

// Before opset 11: positions are scaled without an offset. The nearest element is the one before
// the position, or the one behind where the scale is below 1.
Values resizeAsymmetric(NodeImport &n, const std::vector<double> &scales) {
  ResizeOptions options;
  options.interpolation = modeAttribute(n);
  options.coordinates = Coordinates::Asymmetric;
  Value x = n.input(0);
  for (const ResizeAxis &axis : axesFromScales(n, dimsFrom(0, rankOf(x)), scales)) {
    options.rounding = *axis.scale < 1 ? NearestRounding::Ceil : NearestRounding::Floor;
    x = resize(n, x, {axis}, options);
  }
  return {x};
}

Values importUpsample7(NodeImport &n) {
  n.checkInputs(1, 1);
  return resizeAsymmetric(n, n.decimals("scales").value_or(std::vector<double>()));
}

Values importUpsample9(NodeImport &n) {
  n.checkInputs(2, 2);
  return resizeAsymmetric(n, numbersInput(n, 1, "scales"));
}

constexpr OpEntry kResizeOps[] = {
    {"Resize", 10, importUpsample9},
    {"Resize", 11, importResize},
    {"Upsample", 7, importUpsample7},
    {"Upsample", 9, importUpsample9},
};

} // namespace

llvm::ArrayRef<OpEntry> resizeOps() { return kResizeOps; }

} // namespace cleave::onnx
