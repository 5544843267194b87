// Regions: images read at positions that are data, by the four elements around each: regions of interest, and
// convolutions whose windows are deformed.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

struct RoiAlignOptions {
  int64_t height = 1, width = 1; // of the result
  int64_t samples = 1;           // along each side of an element of the result
  double scale = 1;              // of the boxes' numbers
  bool halfPixel =
      true; // positions count from the middle of the first element; else boxes are at least 1 wide
  bool largest = false; // the largest weighted element instead of the samples' mean
};

// x [n, c, h, w] in the boxes [regions, 4] (left, top, right, bottom) of the images `batch` [regions]:
// [regions, c, height, width].
Value roiAlign(const Emitter &e, Value x, Value boxes, Value batch, const RoiAlignOptions &options);

// A convolution of x [n, c, h, w] by weight (out channels, c / groups, kernel…) whose elements are read where
// `offset` [n, offset groups · kernel · 2, out h, out w] moves them (down, right) and weighed by `mask`
// [n, offset groups · kernel, out h, out w]; what lies outside is 0. `bias` and `mask` may be null.
Value deformableConvolution(const Emitter &e, Value x, Value weight, Value offset, Value bias,
                            Value mask, Window window, int64_t groups, int64_t offsetGroups);

} // namespace cleave::emit
