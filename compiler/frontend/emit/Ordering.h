// Ordering: sorting, arg-max, the largest elements and cumulative reductions along one axis.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Elements of a tensor and their indices along the axis.
struct Ordered {
  Value values;
  Value indices; // int64
};

// Sorts along `axis`. Equal elements keep their order; NaN is the largest.
Ordered sort(const Emitter &e, Value x, int64_t axis, bool descending);

// The k largest (smallest) along `axis`, the largest (smallest) first.
Ordered topK(const Emitter &e, Value x, const Polynomial &k, int64_t axis, bool largest);

// The index (int64) of the largest (smallest) element along `axis`; of equal ones the first, or
// with `last` the last. NaN is taken before any number. `keep`: the axis stays with size 1.
Value argMinMax(const Emitter &e, Value x, int64_t axis, bool largest, bool keep,
                bool last = false);

// The largest (smallest) element along `axis`, which stays with size 1. Only the element that
// argMinMax chooses gets a gradient, also among equal ones.
Value chosenExtreme(const Emitter &e, Value x, int64_t axis, bool largest);

// Cumulative sum (product, …) along `axis`. `exclusive`: without the element itself; `reverse`:
// from the end.
Value cumulate(const Emitter &e, Reduction kind, Value x, int64_t axis, bool exclusive = false,
               bool reverse = false);

// The logarithm of the cumulative sum of exponentials along `axis`, whose size must be known,
// without overflow.
Value cumulateLogSumExp(const Emitter &e, Value x, int64_t axis);

// The cumulative maximum (minimum) along `axis` and the last index at which it was reached.
Ordered cumulateMinMax(const Emitter &e, Value x, int64_t axis, bool largest);

} // namespace cleave::emit
