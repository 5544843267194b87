// Pooling of [N, C, spatial…]: over windows, over all spatial dims, or to a given size.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

// Options of the poolings over windows (Window.h).
struct PoolOptions {
  Window window;
  AutoPad autoPad = AutoPad::None;
  bool ceil = false;         // round the number of windows up
  bool countPadding = false; // averages count padding elements
};

// The largest element, the mean of each window.
Value maxPool(const Emitter &e, Value x, const PoolOptions &options);
Value averagePool(const Emitter &e, Value x, const PoolOptions &options);
// The place (int64, row-major in the spatial dims) of the largest element of each window, which for
// equal ones is the first, and for several NaN the last.
Value maxPoolPlaces(const Emitter &e, Value x, const PoolOptions &options);
// The sum of each window; padding is 0.
Value sumPool(const Emitter &e, Value x, const PoolOptions &options);
// (sum |x|^p)^(1/p) over each window, p >= 1.
Value lpPool(const Emitter &e, Value x, double p, const PoolOptions &options);

// x [N, C, elements], each element at its place (int64) among `size` zeros. An element that occurs
// twice at one place gets a gradient for each.
Value maxUnpool(const Emitter &e, Value x, Value places, const Polynomial &size);

// Over all spatial dims, which stay with size 1.
Value globalMaxPool(const Emitter &e, Value x);
Value globalAveragePool(const Emitter &e, Value x);
Value globalLpPool(const Emitter &e, Value x, double p);

// To sizes[d] elements per spatial dim d: element i covers the n elements of x from floor(i n /
// size) to ceil((i + 1) n / size). Spatial sizes must be known unless `sizes` divides them or is 1.
Value adaptiveAveragePool(const Emitter &e, Value x, const Ints &sizes);
Value adaptiveMaxPool(const Emitter &e, Value x, const Ints &sizes);

} // namespace cleave::emit
