// See Spectral.h.
#include "compiler/frontend/emit/Spectral.h"

#include "dialects/graph/F32Region.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

namespace {

// [rows, columns] of formula(row, column).
Value matrix(const Emitter &e, int64_t rows, int64_t columns, mlir::Type element,
             llvm::function_ref<double(int64_t, int64_t)> formula) {
  if (columns > 0 && rows > kMaxConstant / columns)
    fail("transforms ", rows, " elements to ", columns, ", expected fewer");
  Tensor values(ElementType::F64, {rows, columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values.values[i * columns + j] = formula(i, j);
  return e.cast(e.constant(values), element);
}

// 2 π i j / length, reduced to one turn.
double angle(int64_t i, int64_t j, int64_t length) {
  auto steps = static_cast<double>(static_cast<int64_t>(static_cast<__int128>(i) * j % length));
  return 2 * M_PI * steps / static_cast<double>(length);
}

// Sum over `axis` of x times the matrix; the axis takes the matrix's columns.
Value along(const Emitter &e, Value x, int64_t axis, Value matrix) {
  auto product = DotGeneralOp::create(e.b, e.loc, x, matrix, Ints{}, Ints{}, Ints{axis}, Ints{0});
  graph::markF32Region(product, /*isInside=*/true); // the cosines of the matrix are not rounded
  Ints order = dimsFrom(0, rankOf(x) - 1);
  order.insert(order.begin() + axis, rankOf(x) - 1);
  return e.transpose(product, order);
}

Value fitted(const Emitter &e, Value x, int64_t axis, int64_t length) {
  int64_t have = e.number(shapeOf(x)[axis], "number of transformed elements");
  return have >= length ? e.slice(x, axis, 0, length) : e.pad(x, axis, 0, length - have);
}

Complex fitted(const Emitter &e, const Complex &x, int64_t axis, int64_t length) {
  e.checkFloat(x.real);
  if (length < 1)
    fail("transforms ", length, " elements, expected at least 1");
  return {fitted(e, x.real, axis, length),
          x.imaginary ? fitted(e, x.imaginary, axis, length) : Value()};
}

// x times exp(sign 2 pi i t f / length) times `factor`, summed over the axis.
Complex rotated(const Emitter &e, const Complex &x, int64_t axis, int64_t length, int64_t outputs,
                double sign, double factor) {
  mlir::Type element = elementOf(x.real);
  Value cos = matrix(e, length, outputs, element,
                     [&](int64_t i, int64_t j) { return factor * std::cos(angle(i, j, length)); });
  Value sin = matrix(e, length, outputs, element, [&](int64_t i, int64_t j) {
    return factor * sign * std::sin(angle(i, j, length));
  });
  Complex y{along(e, x.real, axis, cos), along(e, x.real, axis, sin)};
  if (!x.imaginary)
    return y;
  return {e.sub(y.real, along(e, x.imaginary, axis, sin)),
          e.add(y.imaginary, along(e, x.imaginary, axis, cos))};
}

} // namespace

Complex fourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length, bool onesided) {
  return rotated(e, fitted(e, x, axis, length), axis, length, onesided ? length / 2 + 1 : length,
                 -1, 1);
}

Complex inverseFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length) {
  return rotated(e, fitted(e, x, axis, length), axis, length, length, 1,
                 1 / static_cast<double>(length));
}

Value inverseRealFourier(const Emitter &e, const Complex &x, int64_t axis, int64_t length) {
  if (length < 1)
    fail("transforms ", length, " elements, expected at least 1");
  int64_t bins = length / 2 + 1;
  Complex half = fitted(e, x, axis, bins);
  mlir::Type element = elementOf(x.real);
  // All frequencies but the first and (for an even length) the last represent two.
  auto weight = [&](int64_t bin) {
    return (bin == 0 || 2 * bin == length ? 1 : 2) / static_cast<double>(length);
  };
  Value cos = matrix(e, bins, length, element, [&](int64_t i, int64_t j) {
    return weight(i) * std::cos(angle(i, j, length));
  });
  Value real = along(e, half.real, axis, cos);
  if (!half.imaginary)
    return real;
  Value sin = matrix(e, bins, length, element, [&](int64_t i, int64_t j) {
    bool isAlone = i == 0 || 2 * i == length;
    return isAlone ? 0 : weight(i) * std::sin(angle(i, j, length));
  });
  return e.sub(real, along(e, half.imaginary, axis, sin));
}

Complex shortTimeFourier(const Emitter &e, const Complex &x, Value window, int64_t length,
                         int64_t step, bool onesided) {
  if (rankOf(x.real) != 2 || length < 1 || step < 1)
    fail("has a signal ", showShape(shapeOf(x.real)), ", frames of ", length, " every ", step,
         ", expected [batch, time] and positive numbers");
  int64_t time = e.number(shapeOf(x.real)[1], "length of the signal");
  if (time < length)
    fail("has a signal of ", time, " elements, expected at least a frame of ", length);
  int64_t frames = (time - length) / step + 1;
  if (frames > kMaxConstant / length)
    fail("has ", frames, " frames of ", length, " elements, expected fewer");
  Tensor places(ElementType::I64, {frames, length});
  for (int64_t i = 0; i < places.size(); ++i)
    places.values[i] = static_cast<double>(i / length * step + i % length);
  auto framed = [&](Value signal) -> Value {
    if (!signal)
      return {};
    Value frame = e.gather(signal, e.constant(places), 1);
    return window ? e.mul(frame, e.broadcast(window, shapeOf(frame))) : frame;
  };
  return fourier(e, {framed(x.real), framed(x.imaginary)}, 2, length, onesided);
}

} // namespace cleave::emit
