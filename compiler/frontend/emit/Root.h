// The square root under a norm.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The square root, whose slope at 0 counts as 0: a norm has none there, and no NaN must come of a row of zeros.
Value flatRoot(const Emitter &e, Value x);

} // namespace cleave::emit
