// Sampling: images read at positions that are data, grids of such positions, and images put together from windows.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/emit/Resize.h"

namespace cleave::emit {

enum class Border { Zeros, Edge, Reflection };

struct GridSampleOptions {
  Interpolation interpolation = Interpolation::Linear;
  Border border = Border::Zeros;
  bool alignCorners =
      false; // -1 and 1 are the centres of the outermost elements, not their outer edges
};

// result[n, c, o…] = x[n, c, …] at the position grid[n, o…, :] in [-1, 1] per dim, the innermost dim first.
Value gridSample(const Emitter &e, Value x, Value grid, const GridSampleOptions &options);

// The positions of an output of these sizes under theta[n] (d rows of d + 1 numbers): [n, sizes…, d].
Value affineGrid(const Emitter &e, Value theta, const Ints &sizes, bool alignCorners);

// The windows of a convolution over an image of `image` sizes.
struct Blocks {
  Ints image, kernel, strides, dilations, padsLow, padsHigh;
};

// x [n, c · kernel, blocks]: every block's elements added up in their places of an image [n, c, image…].
Value columnsToImage(const Emitter &e, Value x, const Blocks &blocks);
// The other way round: the elements of all windows of x [n, c, image…].
Value imageToColumns(const Emitter &e, Value x, const Blocks &blocks);

// Every dim of `axes` cut or extended with zeros about its centre to the size.
Value centerCropPad(const Emitter &e, Value x, const Ints &axes, const Ints &sizes);

} // namespace cleave::emit
