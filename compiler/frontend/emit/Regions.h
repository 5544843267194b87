// Regions: bilinear reads at positions that are data: regions of interest and deformable
// convolutions.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

// Options of roiAlign().
struct RoiAlignOptions {
  int64_t height = 1, width = 1; // of the result
  int64_t samples = 1;           // along each side of an element of the result
  double scale = 1;              // factor from box coordinates to elements of x
  // Coordinate 0 is the corner of the first element. False: its centre, and boxes are at least 1
  // wide.
  bool halfPixel = true;
  bool largest = false; // the largest weighted element instead of the mean of the samples
};

// Samples x [n, c, h, w] in boxes [regions, 4] (left, top, right, bottom) of the images with the
// indices `batch` [regions]. The result is [regions, c, height, width].
Value roiAlign(const Emitter &e, Value x, Value boxes, Value batch, const RoiAlignOptions &options);

// Convolves x [n, c, h, w] with weight [out channels, c / groups, kernel…]. Each element of the
// window is read at a position shifted by `offset` [n, offset groups · kernel · 2, out h, out w]
// (down, right) and multiplied by `mask` [n, offset groups · kernel, out h, out w]. Elements
// outside of x are 0. `bias` and `mask` may be null.
Value deformableConvolution(const Emitter &e, Value x, Value weight, Value offset, Value bias,
                            Value mask, Window window, int64_t groups, int64_t offsetGroups);

} // namespace cleave::emit
