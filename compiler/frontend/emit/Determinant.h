// Determinants of small matrices.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Of the matrices in the last two dims of x, by elimination with row exchanges, written out; at most 64 rows.
Value determinant(const Emitter &e, Value x);

} // namespace cleave::emit
