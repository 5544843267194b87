// Einsum: a product of any number of operands, summed over what the result does not name.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// `equation` as numpy writes it: `bij,bjk->bik`, with an ellipsis, or without `->`. A label that an
// operand names twice takes its diagonal.
Value einsum(const Emitter &e, std::string equation, const Values &operands);

// The elements of x with equal places in dims `a` and `b`, which become one dim at the place of the
// first; of equal sizes.
Value diagonal(const Emitter &e, Value x, int64_t a, int64_t c);

} // namespace cleave::emit
