// Making views: a handle on the same storage from how it is read and how it is written.
#pragma once

#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {

// A view of `base`: `read` gives its elements from the base's at any time, `write` the base's after a
// write to the view. `move` makes the view's strides of the base's, in place.
template <typename Read, typename Write, typename Move>
Value makeView(OpCall &c, const Value &base, Read read, Write write, Move move) {
  Array elements = c.read(base);
  Strides strides = base.tensor()->strides(c.e);
  if (strides)
    move(*strides);
  Array seen = read(c.e, elements);
  return TensorState::viewOf(base.tensor(), seen, {read, write}, std::move(strides));
}

// One that shows every element once: `back` is the inverse of `read`.
template <typename Read, typename Back, typename Move>
Value rearranged(OpCall &c, const Value &base, Read read, Back back, Move move) {
  auto write = [back](emit::Emitter &e, Array, Array part) { return back(e, part); };
  return makeView(c, base, read, write, move);
}

} // namespace cleave::aten
