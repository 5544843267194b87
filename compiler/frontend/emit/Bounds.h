// Bounds: upper bounds of integers that are computed from data.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// A number that all elements are less than, as the ops that compute them show; none if they do not.
std::optional<int64_t> boundOf(const Emitter &e, Value x);

// Fails unless all elements are less than `bound`. Inputs of the step pass: what they hold is
// checked when it is read (compiler/analysis/Vocabulary.h).
void checkBelow(const Emitter &e, Value x, const Polynomial &bound);

} // namespace cleave::emit
