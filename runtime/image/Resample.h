// Resizing of images by bilinear interpolation with antialiasing: a triangle of the width of the
// reduction, in the fixed point of PIL's Image.resize, whose results it gives bit by bit.
#pragma once

#include "runtime/image/Image.h"

namespace cleave::image {

// A part of an image: its first row and column and its size. A window may lie outside of the image.
struct Rect {
  int64_t top = 0, left = 0;
  Size size;

  bool operator==(const Rect &) const = default;
};

// The pixels of `window` of the image that results if `part` of `from` is resized to `to`; those
// outside of it are 0. `part` lies inside of `from`; no size is 0.
Image resample(const Image &from, const Rect &part, Size to, const Rect &window);

} // namespace cleave::image
