// Spectral: discrete Fourier transforms as products with constant matrices of cosines and sines.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Complex numbers as two tensors of one shape.
struct Complex {
  Value real;
  Value imaginary; // null: zero
};

// Transforms x along `axis`, cropped or zero-padded to `length` elements. `onesided`: only the
// first length / 2 + 1 frequencies.
Complex fourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length, bool onesided);

// The inverse from all `length` frequencies, divided by `length`.
Complex inverseFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length);

// The inverse from the first length / 2 + 1 frequencies of a real signal.
Value inverseRealFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length);

// Transforms the frames [begin, begin + length) of each row of x [batch, time], for begin = 0,
// step, … while they fit. The result is [batch, frames, frequencies]. `window` [length] weighs the
// elements of a frame; null: all 1.
Complex shortTimeFourier(const Emitter &e, const Complex &x, Value window, int64_t length,
                         int64_t step, bool onesided);

} // namespace cleave::emit
