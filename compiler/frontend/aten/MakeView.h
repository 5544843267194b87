// Builds views from functions that read and write their base.
#pragma once

#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {

// A view of `base`. read(emitter, base elements) returns the view's elements, write(emitter, base
// elements, part) the base's after `part` was written to the view. move(strides) turns the strides
// of the base into those of the view, in place.
template <typename Read, typename Write, typename Move>
IValue makeView(OpCall &c, const IValue &base, Read read, Write write, Move move) {
  Array elements = c.read(base);
  Strides strides = base.tensor()->strides(c.e);
  if (strides)
    move(*strides);
  Array seen = read(c.e, elements);
  return TensorState::viewOf(base.tensor(), seen, {read, write}, std::move(strides));
}

// A view that contains every element of `base` once; `back` is the inverse of `read`.
template <typename Read, typename Back, typename Move>
IValue rearranged(OpCall &c, const IValue &base, Read read, Back back, Move move) {
  auto write = [back](emit::Emitter &e, Array, Array part) { return back(e, part); };
  return makeView(c, base, read, write, move);
}

} // namespace cleave::aten
