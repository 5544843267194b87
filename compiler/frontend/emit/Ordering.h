// Ordering: sorting, the largest elements, their places, and running sums along one axis.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

struct Ordered {
  Value values;
  Value indices; // int64: where each stood
};

// Along `axis`; equal elements keep their order, NaN is the largest.
Ordered sort(const Emitter &e, Value x, int64_t axis, bool descending);

// The k largest (smallest) along `axis`, the most extreme first.
Ordered topK(const Emitter &e, Value x, const Polynomial &k, int64_t axis, bool largest);

// Where the largest (smallest) element along `axis` stands, as int64: the first of several, or the last. A NaN wins.
Value argExtreme(const Emitter &e, Value x, int64_t axis, bool largest, bool keep,
                 bool last = false);

// The sum (product, …) of all elements up to each along `axis`; `exclusive` without the element itself, `reverse`
// from the end on.
Value cumulate(const Emitter &e, Reduction kind, Value x, int64_t axis, bool exclusive = false,
               bool reverse = false);

// The running maximum (minimum) and where it was last reached.
Ordered cumulateExtreme(const Emitter &e, Value x, int64_t axis, bool largest);

} // namespace cleave::emit
