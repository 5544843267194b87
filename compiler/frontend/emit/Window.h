// Window: the sliding window of convolutions and pooling, from what frameworks say about it.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// One entry per spatial dim everywhere; empty lists mean strides and dilations of 1 and no padding.
struct Window {
  Ints kernel, strides, dilations, padsLow, padsHigh;

  size_t rank() const { return kernel.size(); }
  // What the kernel covers of one dim.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// Padding that follows from the sizes: as many windows as strides fit, the odd element behind or in
// front.
enum class AutoPad { None, SameUpper, SameLower };

// The window with all lists filled in; fails where an entry is out of range or the window does not
// fit over dims of sizes `spatial`. With `ceil` (pooling) the last window may begin inside and end
// outside: the padding behind grows accordingly.
Window fittedWindow(const Emitter &e, const Shape &spatial, Window window,
                    AutoPad autoPad = AutoPad::None, bool ceil = false);

// The spatial dims of data N C spatial….
inline Shape spatialOf(Value x) {
  Shape dims = shapeOf(x);
  return Shape(dims.begin() + 2, dims.end());
}

} // namespace cleave::emit
