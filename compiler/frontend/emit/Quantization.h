// Quantization: numbers as small integers times a scale, counted from a zero point.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// `factor` (a scale or zero point) for every element of x: one for all, one per index of `axis`, or one per block of
// `block` elements along `axis` (block > 0: factors then have x's dims).
Value perElement(const Emitter &e, Value factor, Value x, int64_t axis, int64_t block);

// round(x / scale) + zero, brought into the range of `type` (half to even). `zero` may be null.
Value quantize(const Emitter &e, Value x, Value scale, Value zero, mlir::Type type, int64_t axis,
               int64_t block = 0);

// (x - zero) · scale, in the scale's type.
Value dequantize(const Emitter &e, Value x, Value scale, Value zero, int64_t axis,
                 int64_t block = 0);

struct DynamicallyQuantized {
  Value values; // uint8
  Value scale, zero;
};
// With the scale that x's own range, extended to 0, asks for.
DynamicallyQuantized quantizeDynamically(const Emitter &e, Value x);

} // namespace cleave::emit
