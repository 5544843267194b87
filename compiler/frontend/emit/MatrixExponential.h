// The exponential of square matrices.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The matrix exponential of x [batch…, n, n]; not a number for matrices whose largest sum of the
// sizes of a column is above 2048.
Value matrixExponential(const Emitter &e, Value x);

} // namespace cleave::emit
