// Indexing: elements chosen by numbers in another tensor, and by comparing positions. Choosing
// along several dims at once, sorting and counting are in files of their own.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The indices with negative ones counted from the end of a dim of this size; `neverNegative` where
// the model promises that there are none.
Value countFromFront(const Emitter &e, Value indices, const Polynomial &size,
                     bool neverNegative = false);

// Dim `dim` of x replaced by the dims of `indices`: x[…, indices, …]. A known scalar index is a
// slice.
Value gather(const Emitter &e, Value x, Value indices, int64_t dim, bool neverNegative = false);

// Rows of a table (vocabulary, width).
Value embedding(const Emitter &e, Value table, Value indices);

// `on` where a new dim `axis` of size `depth` has the index, else `off` (scalars of one type).
Value oneHot(const Emitter &e, Value indices, const Polynomial &depth, int64_t axis, Value on,
             Value off);

// The triangle of the last two dims on and above (upper) or below the diagonal that is shifted by
// `shift` to the right; the rest becomes 0.
Value triangle(const Emitter &e, Value x, bool upper, const Polynomial &shift = 0);
// Whether each element of a matrix of this shape is in that triangle.
Value triangleMask(const Emitter &e, const Shape &matrix, bool upper, const Polynomial &shift = 0);

// `value` where the mask holds, else x; the mask is broadcast to x.
Value maskedFill(const Emitter &e, Value x, Value mask, Value value);

// start, start + step, …: `count` numbers.
Value range(const Emitter &e, const Polynomial &start, const Polynomial &count, int64_t step,
            mlir::Type element);

} // namespace cleave::emit
