// Determinants of small matrices.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Determinants of the matrices in the last two dims of x, by unrolled Gaussian elimination with
// partial pivoting. Fails beyond 64 rows.
Value determinant(const Emitter &e, Value x);

} // namespace cleave::emit
