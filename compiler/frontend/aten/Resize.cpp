// Resampling of images (nearest, linear, cubic), and samples at positions that are data.
#include "compiler/frontend/emit/Resize.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Sampling.h"

#include <cmath>

namespace cleave::aten {
namespace {

using emit::Coordinates;
using emit::Interpolation;

// Scale with align_corners: ratio of the distances between the first and the last centre.
std::optional<double> cornerScale(double input, int64_t output) {
  if (output < 2 && input > 1)
    fail("resizes with antialias and align_corners to a single pixel, which Cleave does not do");
  return input > 1 ? std::optional((static_cast<double>(output) - 1) / (input - 1)) : std::nullopt;
}

// The spatial dims with their requested sizes. `factors`: output size / input size, if given.
std::vector<emit::ResizeAxis> axesOf(OpCall &c, Array x, const std::vector<Polynomial> &sizes,
                                     const std::vector<std::optional<double>> &factors,
                                     bool alignsCorners, bool antialias) {
  int64_t spatial = rankOf(x) - 2;
  if (static_cast<int64_t>(std::max(sizes.size(), factors.size())) != spatial)
    fail("has ", std::max(sizes.size(), factors.size()), " sizes for ", spatial, " spatial dims");
  for (size_t given : {sizes.size(), factors.size()})
    if (given > 0 && static_cast<int64_t>(given) != spatial)
      fail("has ", given, " sizes or scales for ", spatial, " spatial dims");
  std::vector<emit::ResizeAxis> out;
  for (int64_t i = 0; i < spatial; ++i) {
    emit::ResizeAxis axis;
    axis.dim = 2 + i;
    if (!factors.empty())
      axis.scale = factors[i];
    auto input = static_cast<double>(c.e.number(shapeOf(x)[axis.dim], "the size of the image"));
    axis.output = sizes.empty() ? emit::truncated(std::floor(input * axis.scale.value_or(1)))
                                : c.e.number(sizes[i], "the output size");
    if (axis.output < 1)
      fail("asks for images of size ", axis.output);
    if (alignsCorners) // a given factor is ignored
      axis.scale = antialias ? cornerScale(input, axis.output) : std::nullopt;
    out.push_back(axis);
  }
  return out;
}

emit::ResizeOptions optionsOf(OpCall &c, Interpolation how, bool exact, bool antialias) {
  emit::ResizeOptions out;
  out.interpolation = how;
  out.antialias = antialias;
  out.excludeOutside = antialias;
  if (how == Interpolation::Nearest) {
    out.coordinates = exact ? Coordinates::HalfPixelNearest : Coordinates::Asymmetric;
    out.rounding = emit::NearestRounding::Floor;
    return out;
  }
  if (c.boolean("align_corners") && !antialias)
    out.coordinates = Coordinates::AlignCorners;
  if (antialias)
    out.cubic = -0.5;
  return out;
}

// Forms with sizes and, by name, optional factors.
template <Interpolation how, int spatialDims, bool flag> Results bySize(OpCall &c) {
  static constexpr const char *kNames[] = {"scales_d", "scales_h", "scales_w"};
  Array x = c.tensor("self");
  std::vector<std::optional<double>> factors;
  for (int i = 3 - spatialDims; i < 3; ++i) {
    const char *name = spatialDims == 1 ? "scales" : kNames[i];
    factors.push_back(c.has(name) ? std::optional(c.number(name)) : std::nullopt);
  }
  std::vector<Polynomial> sizes = c.integers("output_size");
  bool exact = how == Interpolation::Nearest && flag, antialias = !exact && flag;
  bool alignsCorners = how != Interpolation::Nearest && c.boolean("align_corners");
  return emit::resize(c.e, x, axesOf(c, x, sizes, factors, alignsCorners, antialias),
                      optionsOf(c, how, exact, antialias));
}

// Forms with either sizes or factors.
template <Interpolation how, bool flag> Results byEither(OpCall &c) {
  Array x = c.tensor("input");
  std::vector<Polynomial> sizes;
  std::vector<std::optional<double>> factors;
  if (c.has("output_size"))
    sizes = c.integers("output_size");
  else if (c.has("scale_factors"))
    for (double factor : c.numbers("scale_factors"))
      factors.push_back(factor);
  else
    fail("has neither output_size nor scale_factors");
  bool exact = how == Interpolation::Nearest && flag, antialias = !exact && flag;
  bool alignsCorners = how != Interpolation::Nearest && c.boolean("align_corners");
  return emit::resize(c.e, x, axesOf(c, x, sizes, factors, alignsCorners, antialias),
                      optionsOf(c, how, exact, antialias));
}

// -- positions that are data ----------------------------------------------------------------------
Results gridSample(OpCall &c) {
  static constexpr Interpolation kModes[] = {Interpolation::Linear, Interpolation::Nearest,
                                             Interpolation::Cubic};
  static constexpr emit::Border kBorders[] = {emit::Border::Zeros, emit::Border::Edge,
                                              emit::Border::Reflection};
  int64_t mode = c.plainInteger("interpolation_mode"), border = c.plainInteger("padding_mode");
  if (mode < 0 || mode > 2 || border < 0 || border > 2)
    fail("has the modes ", mode, " and ", border, ", expected 0 to 2");
  return emit::gridSample(c.e, c.floats("input"), c.floats("grid"),
                          {kModes[mode], kBorders[border], c.boolean("align_corners")});
}

Results affineGrid(OpCall &c) {
  Ints sizes = c.plainIntegers("size");
  if (sizes.size() < 3)
    fail("has ", sizes.size(), " sizes, expected at least 3");
  return emit::affineGrid(c.e, c.floats("theta"), Ints(sizes.begin() + 2, sizes.end()),
                          c.boolean("align_corners"));
}

#define CLEAVE_SIZE "T self, i[] output_size, "
#define CLEAVE_SCALES2 "f? scales_h=None, f? scales_w=None"
constexpr const char *kNearest1 = CLEAVE_SIZE "f? scales=None";
constexpr const char *kNearest2 = CLEAVE_SIZE CLEAVE_SCALES2;
constexpr const char *kNearest3 = CLEAVE_SIZE "f? scales_d=None, " CLEAVE_SCALES2;
constexpr const char *kLinear1 = CLEAVE_SIZE "b align_corners, f? scales=None";
constexpr const char *kLinear2 = CLEAVE_SIZE "b align_corners, " CLEAVE_SCALES2;
constexpr const char *kLinear3 = CLEAVE_SIZE "b align_corners, f? scales_d=None, " CLEAVE_SCALES2;
constexpr const char *kNearest = "T input, i[]? output_size, f[]? scale_factors";
constexpr const char *kLinear = "T input, i[]? output_size, b align_corners, f[]? scale_factors";

template <int dims, bool exact>
constexpr Function nearest = bySize<Interpolation::Nearest, dims, exact>;
template <bool exact> constexpr Function nearestEither = byEither<Interpolation::Nearest, exact>;
template <int dims, bool antialias>
constexpr Function linearly = bySize<Interpolation::Linear, dims, antialias>;
template <bool antialias>
constexpr Function linearEither = byEither<Interpolation::Linear, antialias>;
template <bool antialias> constexpr Function cubic = bySize<Interpolation::Cubic, 2, antialias>;
template <bool antialias>
constexpr Function cubicEither = byEither<Interpolation::Cubic, antialias>;

constexpr const char *kGrid =
    "T input, T grid, i interpolation_mode, i padding_mode, b align_corners";

constexpr OpEntry kResizeOps[] = {
    {"_upsample_bicubic2d_aa", kLinear2, cubic<true>},
    {"_upsample_bicubic2d_aa", kLinear, cubicEither<true>},
    {"_upsample_bilinear2d_aa", kLinear2, linearly<2, true>},
    {"_upsample_bilinear2d_aa", kLinear, linearEither<true>},
    {"_upsample_nearest_exact1d", kNearest1, nearest<1, true>},
    {"_upsample_nearest_exact1d", kNearest, nearestEither<true>},
    {"_upsample_nearest_exact2d", kNearest2, nearest<2, true>},
    {"_upsample_nearest_exact2d", kNearest, nearestEither<true>},
    {"_upsample_nearest_exact3d", kNearest3, nearest<3, true>},
    {"_upsample_nearest_exact3d", kNearest, nearestEither<true>},
    {"affine_grid_generator", "T theta, i[] size, b align_corners", affineGrid},
    {"grid_sampler", kGrid, gridSample},
    {"grid_sampler_2d", kGrid, gridSample},
    {"grid_sampler_3d", kGrid, gridSample},
    {"upsample_bicubic2d", kLinear2, cubic<false>},
    {"upsample_bicubic2d", kLinear, cubicEither<false>},
    {"upsample_bilinear2d", kLinear2, linearly<2, false>},
    {"upsample_bilinear2d", kLinear, linearEither<false>},
    {"upsample_linear1d", kLinear1, linearly<1, false>},
    {"upsample_linear1d", kLinear, linearEither<false>},
    {"upsample_nearest1d", kNearest1, nearest<1, false>},
    {"upsample_nearest1d", kNearest, nearestEither<false>},
    {"upsample_nearest2d", kNearest2, nearest<2, false>},
    {"upsample_nearest2d", kNearest, nearestEither<false>},
    {"upsample_nearest3d", kNearest3, nearest<3, false>},
    {"upsample_nearest3d", kNearest, nearestEither<false>},
    {"upsample_trilinear3d", kLinear3, linearly<3, false>},
    {"upsample_trilinear3d", kLinear, linearEither<false>},
};

} // namespace

llvm::ArrayRef<OpEntry> resizeOps() { return kResizeOps; }

} // namespace cleave::aten
