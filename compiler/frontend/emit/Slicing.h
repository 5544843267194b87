// Slicing: slices, splits and padding. Positions and sizes are polynomials; a symbolic position is
// assumed to lie inside a dim of known size.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// x[start:end:step] along one dim with numpy's meaning: negative positions count from the end,
// positions outside the dim or beyond 2^31 are clamped.
Value sliceDim(const Emitter &e, Value x, int64_t dim, const Polynomial &start,
               const Polynomial &end, int64_t step = 1);

// Element `index` of dim `dim`, which is removed; a negative index counts from the end.
Value takeOne(const Emitter &e, Value x, int64_t dim, const Polynomial &index);

// One piece per size; fails unless the sizes add up to the dim.
Values split(const Emitter &e, Value x, int64_t dim, const Sizes &sizes);
// Sizes of the pieces of `size` elements each, the last one possibly smaller. The number of pieces
// must be known.
Sizes piecesOf(const Emitter &e, const Polynomial &total, const Polynomial &size);
// Sizes of `count` pieces: equal, or with `unevenAllowed` a smaller last one.
Sizes piecesBy(const Emitter &e, const Polynomial &total, int64_t count, bool unevenAllowed);

// Elements of the padding: a number, the nearest element, the mirror image without the border
// element, or the elements from the other end.
enum class PadMode { Constant, Edge, Reflect, Wrap };

// Pads one dim with `low` elements at its start and `high` at its end; negative numbers crop.
Value padDim(const Emitter &e, Value x, int64_t dim, const Polynomial &low, const Polynomial &high,
             PadMode mode = PadMode::Constant, double fill = 0);

} // namespace cleave::emit
