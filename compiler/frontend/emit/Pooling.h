// Pooling of data N C spatial…: over windows, over everything, or to a given size.
#pragma once

#include "compiler/frontend/emit/Window.h"

namespace cleave::emit {

struct PoolOptions {
  Window window;
  AutoPad autoPad = AutoPad::None;
  bool ceil = false;         // round the number of windows up
  bool countPadding = false; // an average divides by padding elements, too
};

Value maxPool(const Emitter &e, Value x, const PoolOptions &options);
Value averagePool(const Emitter &e, Value x, const PoolOptions &options);
// The sum of what lies in each window; padding counts as 0.
Value sumPool(const Emitter &e, Value x, const PoolOptions &options);
// (sum |x|^p)^(1/p) over every window, p >= 1.
Value lpPool(const Emitter &e, Value x, double p, const PoolOptions &options);

// All spatial dims become 1.
Value globalMaxPool(const Emitter &e, Value x);
Value globalAveragePool(const Emitter &e, Value x);
Value globalLpPool(const Emitter &e, Value x, double p);

// To `sizes` elements per spatial dim: element i looks at those from floor(i n / size) to
// ceil((i + 1) n / size). Sizes that divide those of the data, or are 1, need no numbers.
Value adaptiveAveragePool(const Emitter &e, Value x, const Ints &sizes);
Value adaptiveMaxPool(const Emitter &e, Value x, const Ints &sizes);

} // namespace cleave::emit
