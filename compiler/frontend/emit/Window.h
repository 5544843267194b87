// Window: the sliding window of convolutions and poolings.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// All lists have one entry per spatial dim; empty ones mean strides and dilations of 1 and no
// padding.
struct Window {
  Ints kernel, strides, dilations, padsLow, padsHigh;

  // The number of spatial dims.
  size_t rank() const { return kernel.size(); }
  // Elements of spatial dim i that a window spans.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// Padding that makes the number of windows ceil(size / stride); an odd element of padding is at the
// end (SameUpper) or at the start (SameLower).
enum class AutoPad { None, SameUpper, SameLower };

// The window with all lists filled in. Fails where an entry is out of range or the window does not
// fit into dims of the sizes `spatial`. With `ceil` (pooling) the last window may end outside: the
// padding at the end grows accordingly.
Window fittedWindow(const Emitter &e, const Sizes &spatial, Window window,
                    AutoPad autoPad = AutoPad::None, bool ceil = false);

// The spatial sizes of [batch, channels, spatial…].
inline Sizes spatialOf(Value x) {
  Sizes dims = shapeOf(x);
  return Sizes(dims.begin() + 2, dims.end());
}

} // namespace cleave::emit
