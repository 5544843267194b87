// Convolution: in 1 to 3 (and more) spatial dims, with groups; and its transpose. Data are
// N C spatial…; a value that is not given is null.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

// x * weight (out channels, in channels / groups, kernel…) + bias (out channels). The window's
// kernel may be left empty: it is the weight's.
Value convolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                  int64_t groups = 1, AutoPad autoPad = AutoPad::None);

// The transpose (the gradient of a convolution by its input): weight (in channels, out channels /
// groups, kernel…). A dim of size n becomes (n - 1) stride + extent - pads + outputPadding, where
// `outputPadding` (empty: zeros) makes the result longer behind. `autoPad`: the result is stride
// times as large.
Value transposedConvolution(const Emitter &e, Value x, Value weight, Value bias, Window window,
                            Ints outputPadding = {}, int64_t groups = 1,
                            AutoPad autoPad = AutoPad::None);

// One number per channel (dim 1) of `like`, broadcast to it; fails where there are not so many.
Value perChannel(const Emitter &e, Value value, Value like);

} // namespace cleave::emit
