// Resize: images (or anything) sampled anew along some dims, one dim after the other. Every dim's samples are fixed
// weighted sums of its elements: a matrix, or a choice where only one element counts.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

enum class Interpolation { Nearest, Linear, Cubic };

// Where output position x lies among the input's elements; scale = output / input size.
enum class Coordinates {
  HalfPixel,          // (x + 0.5) / scale - 0.5
  HalfPixelSymmetric, // the same about the centre, where the scale is no quotient of whole sizes
  PytorchHalfPixel,   // half pixel, but 0 where there is one output element
  AlignCorners,       // first on first, last on last
  Asymmetric,         // x / scale
  HalfPixelNearest,   // (x + 0.5) / scale
  CropAndResize,      // from begin to end of the region
};

enum class NearestRounding { PreferFloor, PreferCeil, Floor, Ceil };

// One dim.
struct ResizeAxis {
  int64_t dim = 0;
  int64_t output = 0;          // size
  std::optional<double> scale; // output / input size if absent
  double begin = 0,
         end = 1; // CropAndResize: the region, as parts of the input from corner to corner
};

struct ResizeOptions {
  Interpolation interpolation = Interpolation::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  NearestRounding rounding = NearestRounding::PreferFloor;
  double cubic = -0.75; // the coefficient of cubic interpolation
  bool excludeOutside =
      false; // positions outside the input have no weight; otherwise the edge is repeated
  bool antialias = false;   // samples of a smaller output take in all that they stand for
  double extrapolation = 0; // CropAndResize: outside the input
  bool inDouble = false;    // positions are computed as for float64 data; resize() sets it
};

// The floating-point tensor x with these dims resized; `Nearest` takes any type. The input's sizes along them must be
// known.
Value resize(const Emitter &e, Value x, llvm::ArrayRef<ResizeAxis> axes, ResizeOptions options);

} // namespace cleave::emit
