// Resize: resamples a tensor along some dims, one after the other. Along a dim each sample is a
// fixed weighted sum of elements: a product with a matrix, or a gather if all weights but one are
// 0.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Kernel of the interpolation.
enum class Interpolation { Nearest, Linear, Cubic };

// Input position of output element x; scale = output size / input size.
enum class Coordinates {
  HalfPixel,          // (x + 0.5) / scale - 0.5
  HalfPixelSymmetric, // the same about the centre, if the scale is not a quotient of the sizes
  PytorchHalfPixel,   // HalfPixel, but 0 for an output of one element
  AlignCorners,       // the first and last elements of both coincide
  Asymmetric,         // x / scale
  HalfPixelNearest,   // (x + 0.5) / scale
  CropAndResize,      // from `begin` to `end` of ResizeAxis
};

// How Interpolation::Nearest rounds a position; Prefer*: to the nearest, halves down or up.
enum class NearestRounding { PreferFloor, PreferCeil, Floor, Ceil };

// One dim that is resized.
struct ResizeAxis {
  int64_t dim = 0;
  int64_t output = 0;          // size of the result
  std::optional<double> scale; // default: output size / input size
  double begin = 0, end = 1;   // CropAndResize: the region as fractions of the input
};

// Options of resize().
struct ResizeOptions {
  Interpolation interpolation = Interpolation::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  NearestRounding rounding = NearestRounding::PreferFloor;
  double cubic = -0.75; // the coefficient of cubic interpolation
  // Positions outside the input have weight 0. False: they repeat the edge.
  bool excludeOutside = false;
  bool antialias = false;   // widen the kernel when the output is smaller
  double extrapolation = 0; // CropAndResize: value outside the input
  bool inDouble = false;    // compute positions in float64; resize() sets it
};

// Resizes the given dims of x, whose sizes must be known. x is of floating-point numbers, with
// `Nearest` of any type.
Value resize(const Emitter &e, Value x, llvm::ArrayRef<ResizeAxis> axes, ResizeOptions options);

} // namespace cleave::emit
