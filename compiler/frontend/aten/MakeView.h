// Making views: a handle on the same storage from how it is read and how it is written.
#pragma once

#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {

// A view of `base`: `read` gives its elements from the base's at any time, `write` the base's after a
// write to the view. `isDense` as in TensorState.
template <typename Read, typename Write>
Value makeView(OpCall &c, const Value &base, Read read, Write write, bool isDense = true) {
  Array elements = c.read(base);
  Array seen = read(c.e, elements);
  return TensorState::viewOf(base.tensor(), seen, {read, write}, isDense);
}

// One that shows every element once: `back` is the inverse of `read`.
template <typename Read, typename Back>
Value rearranged(OpCall &c, const Value &base, Read read, Back back, bool isDense = true) {
  auto write = [back](emit::Emitter &e, Array, Array part) { return back(e, part); };
  return makeView(c, base, read, write, isDense);
}

} // namespace cleave::aten
