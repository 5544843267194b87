// Slicing: parts of a tensor, and the padded whole. Places and sizes are polynomials: a symbolic
// place is taken to lie inside a dim of known size, as it does in a model that works.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Elements start, start + step, … before (step < 0: behind) `end` of one dim, with numpy's meaning:
// negative places count from the end, places outside are clamped, and so is anything beyond 2^31.
Value sliceDim(const Emitter &e, Value x, int64_t dim, const Polynomial &start,
               const Polynomial &end, int64_t step = 1);

// Element `index` of dim `dim`, which vanishes; a negative index counts from the end.
Value takeOne(const Emitter &e, Value x, int64_t dim, const Polynomial &index);

// One piece per size; fails unless they are the dim together.
Values split(const Emitter &e, Value x, int64_t dim, const Shape &sizes);
// The sizes of pieces of `size` elements, the last one smaller if need be; how many must be known.
Shape piecesOf(const Emitter &e, const Polynomial &total, const Polynomial &size);
// The sizes of `count` pieces: equal, or with `unevenAllowed` the last one smaller.
Shape piecesBy(const Emitter &e, const Polynomial &total, int64_t count, bool unevenAllowed);

// What stands in the padding: a number, the nearest element, or elements counted on from the border
// (reflect: backwards without the border, wrap: from the other end).
enum class PadMode { Constant, Edge, Reflect, Wrap };

// `low` elements in front and `high` behind one dim; negative ones cut elements off.
Value padDim(const Emitter &e, Value x, int64_t dim, const Polynomial &low, const Polynomial &high,
             PadMode mode = PadMode::Constant, double fill = 0);

} // namespace cleave::emit
