// Spectral: discrete Fourier transforms, as products with fixed matrices of cosines and sines.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

struct Complex {
  Value real;
  Value imaginary; // null: zero
};

// The transform along `axis` of x, cut or extended with zeros to `length` elements. `onesided`: only the first
// length / 2 + 1 of its frequencies.
Complex fourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length, bool onesided);

// Back from all `length` frequencies; divided by `length`.
Complex inverseFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length);

// Back from the first length / 2 + 1 frequencies of a real signal to that signal.
Value inverseRealFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length);

// Transforms of the frames [begin, begin + length) of every line of x [batch, time], begin = 0, step, … while they
// fit: [batch, frames, frequencies]. `window` [length] weighs the frame's elements; null: all 1.
Complex shortTimeFourier(const Emitter &e, const Complex &x, Value window, int64_t length,
                         int64_t step, bool onesided);

} // namespace cleave::emit
