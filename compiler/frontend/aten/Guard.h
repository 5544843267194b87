// Guards: what a part of a program reads that is computed although it may be inactive, as a branch
// whose condition depends on data.
#pragma once

#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {

// The elements as the inactive part reads them: they receive a gradient only where `isActive` (a
// bool without dims) holds. Elsewhere that gradient may be infinite or NaN, and zero times that is
// not zero.
Array guarded(emit::Emitter &e, Array elements, Array isActive);

// A value with storage of its own for such a part: writes to it do not reach the original.
IValue guardedCopy(emit::Emitter &e, const IValue &value, Array isActive);

} // namespace cleave::aten
