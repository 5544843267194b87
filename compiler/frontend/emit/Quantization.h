// Quantization: x ≈ (q - zero point) · scale with small integers q.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Broadcasts `factor` (a scale or zero point) to x. It has one element, one per index of `axis`, or
// one per block of `block` elements along `axis` (block > 0: `factor` has as many dims as x).
Value perElement(const Emitter &e, Value factor, Value x, int64_t axis, int64_t block);

// round(x / scale) + zero (half to even), clamped to the range of `type`. `zero` null: 0.
Value quantize(const Emitter &e, Value x, Value scale, Value zero, mlir::Type type, int64_t axis,
               int64_t block = 0);

// (x - zero) · scale in the type of `scale`.
Value dequantize(const Emitter &e, Value x, Value scale, Value zero, int64_t axis,
                 int64_t block = 0);

// values = round(x / scale) + zero.
struct DynamicallyQuantized {
  Value values;      // uint8, the shape of x
  Value scale, zero; // scalars
};
// Quantizes x with the scale and zero point of its own range, which is extended to contain 0.
DynamicallyQuantized quantizeDynamically(const Emitter &e, Value x);

} // namespace cleave::emit
