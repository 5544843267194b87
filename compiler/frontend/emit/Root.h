// The square root under a norm.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The square root with slope 0 at 0, so that the gradient of the norm of a row of zeros is 0, not
// NaN.
Value flatRoot(const Emitter &e, Value x);

} // namespace cleave::emit
