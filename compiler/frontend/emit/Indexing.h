// Indexing: gathers along one dim, and masks by position. Gathers along several dims are in
// Coordinates.h, sorting in Ordering.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// `indices` with negative ones replaced by their distance from the start of a dim of this size.
// `neverNegative`: the model guarantees that no index is negative.
Value countFromFront(const Emitter &e, Value indices, const Polynomial &size,
                     bool neverNegative = false);

// x[…, indices, …]: the dims of `indices` replace dim `dim` of x. A known scalar index becomes a
// slice.
Value gather(const Emitter &e, Value x, Value indices, int64_t dim, bool neverNegative = false);

// The options of PyTorch's embedding that change the gradient of its table.
struct EmbeddingGradient {
  int64_t padding = -1;  // this row gets none; negative: all rows get theirs
  bool isScaled = false; // rows' gradients are divided by how often they occur: refused
};
// The rows of `table` [vocabulary, width] with these indices.
Value embedding(const Emitter &e, Value table, Value indices,
                const EmbeddingGradient &gradient = {});

// Adds a dim `axis` of size `depth`: `on` at the index, `off` elsewhere (scalars of one type).
Value oneHot(const Emitter &e, Value indices, const Polynomial &depth, int64_t axis, Value on,
             Value off);

// The elements of the last two dims on and above (upper) or on and below the diagonal that is
// shifted by `shift` to the right; the others become 0.
Value triangle(const Emitter &e, Value x, bool upper, const Polynomial &shift = 0);
// Bool: whether each element of a matrix of these sizes is in that triangle.
Value triangleMask(const Emitter &e, const Sizes &matrix, bool upper, const Polynomial &shift = 0);

// `value` where the mask holds, else x; the mask is broadcast to x.
Value maskedFill(const Emitter &e, Value x, Value mask, Value value);

// The `count` numbers start, start + step, ….
Value range(const Emitter &e, const Polynomial &start, const Polynomial &count, int64_t step,
            mlir::Type element);

} // namespace cleave::emit
