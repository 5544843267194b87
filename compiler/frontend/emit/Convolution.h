// Convolution and its transpose, over any number of spatial dims, with groups. Data are
// [batch, channels, spatial…]; absent values are null.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

// Convolves x with weight [out channels, in channels / groups, kernel…] and adds bias [out
// channels]. An empty kernel in `window` is taken from the weight.
Value convolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                  int64_t groups = 1, AutoPad autoPad = AutoPad::None);

// The transpose, which is the gradient of a convolution with respect to its input; weight is
// [in channels, out channels / groups, kernel…]. A spatial dim of size n becomes
// (n - 1) stride + extent - pads + outputPadding; `outputPadding` (empty: zeros) extends the end.
// With `autoPad` it becomes n stride.
Value transposedConvolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                            Ints outputPadding = {}, int64_t groups = 1,
                            AutoPad autoPad = AutoPad::None);

// `value` [channels] broadcast to the shape of `like`, whose dim 1 is the channels; fails where the
// numbers differ.
Value perChannel(const Emitter &e, Value value, Value like);

} // namespace cleave::emit
