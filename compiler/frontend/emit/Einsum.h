// Einsum: products of any number of operands, summed over the labels that the result lacks.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// `equation` is in numpy's notation: `bij,bjk->bik`, an ellipsis and a missing `->` are allowed. A
// label that an operand has twice takes the diagonal. Dims of size 1 broadcast to the other dims of
// their label.
Value einsum(const Emitter &e, std::string equation, const Values &operands);

// The elements of x with equal indices in dims `a` and `b`, which have one size and become one dim,
// at the place of the first.
Value diagonal(const Emitter &e, Value x, int64_t a, int64_t b);

} // namespace cleave::emit
