// Sampling: reads of images at positions that are data, grids of such positions, and conversions
// between images and windows.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/emit/Resize.h"

namespace cleave::emit {

// Elements outside of an image: 0, the nearest one, or mirrored at the border.
enum class Border { Zeros, Edge, Reflection };

// Options of gridSample().
struct GridSampleOptions {
  Interpolation interpolation = Interpolation::Linear;
  Border border = Border::Zeros;
  // -1 and 1 are the centres of the outermost elements. False: their outer edges.
  bool alignCorners = false;
};

// result[n, c, o…] = x[n, c, …] at position grid[n, o…, :], whose coordinates are in [-1, 1], the
// innermost dim first.
Value gridSample(const Emitter &e, Value x, Value grid, const GridSampleOptions &options);

// The positions [n, sizes…, d] of an output with d dims of these sizes under the affine maps
// theta [n, d, d + 1].
Value affineGrid(const Emitter &e, Value theta, const Ints &sizes, bool alignCorners);

// The windows of a convolution over an image with the spatial sizes `image`.
struct Blocks {
  Ints image, kernel, strides, dilations, padsLow, padsHigh;
};

// Adds the elements of each window of x [n, c · kernel, windows] at their places of an image
// [n, c, image…].
Value columnsToImage(const Emitter &e, Value x, const Blocks &blocks);
// The inverse layout change: the elements [n, c · kernel, windows] of all windows of x [n, c,
// image…].
Value imageToColumns(const Emitter &e, Value x, const Blocks &blocks);

// Crops or zero-pads dim axes[i] about its centre to sizes[i] elements.
Value centerCropPad(const Emitter &e, Value x, const Ints &axes, const Ints &sizes);

} // namespace cleave::emit
