// Short-time Fourier transforms and the windows that weigh their frames.
#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/emit/Spectral.h"

#include <cmath>

namespace cleave::aten {
namespace {

using emit::Complex;
using emit::Reduction;

// -- windows --------------------------------------------------------------------------------------
// The `count` weights formula(x) for x from 0 to 1; of a periodic window the 1 is left out.
Array windowOf(OpCall &c, llvm::function_ref<double(double)> formula) {
  const int64_t count = c.plainInteger("window_length");
  if (count < 0 || count > emit::kMaxConstant)
    fail("has ", count, " elements, expected 0 to ", emit::kMaxConstant);
  const bool isPeriodic = c.boolean("periodic");
  Tensor weights(ElementType::F64, {count});
  const auto last = static_cast<double>(isPeriodic ? count : count - 1);
  for (int64_t i = 0; i < count; ++i)
    weights.values[i] = count == 1 ? 1 : formula(static_cast<double>(i) / last);
  return c.cast(c.e.constant(weights), c.dtype().value_or(c.defaultFloat()));
}

Results hann(OpCall &c) {
  return windowOf(c, [](double x) { return 0.5 - 0.5 * std::cos(2 * M_PI * x); });
}
Results hamming(OpCall &c) {
  const double alpha = c.number("alpha"), beta = c.number("beta");
  return windowOf(c, [=](double x) { return alpha - beta * std::cos(2 * M_PI * x); });
}
Results blackman(OpCall &c) {
  return windowOf(c, [](double x) {
    return 0.42 - 0.5 * std::cos(2 * M_PI * x) + 0.08 * std::cos(4 * M_PI * x);
  });
}
Results bartlett(OpCall &c) {
  return windowOf(c, [](double x) { return 1 - std::fabs(2 * x - 1); });
}
Results kaiser(OpCall &c) {
  const double beta = c.number("beta");
  if (!(std::fabs(beta) <= 700)) // exp(beta) is finite
    fail("has the shape ", beta, ", expected at most 700");
  return windowOf(c, [=](double x) {
    const double root = std::sqrt(std::fmax(1 - (2 * x - 1) * (2 * x - 1), 0));
    return std::cyl_bessel_i(0, std::fabs(beta) * root) / std::cyl_bessel_i(0, std::fabs(beta));
  });
}

// -- frames ---------------------------------------------------------------------------------------
// The arguments that both directions share.
struct Frames {
  int64_t length, step;
  Array window; // [length]
  double scale; // of the frequencies
};

Frames framesOf(OpCall &c, ElementType type) {
  Frames out;
  out.length = c.plainInteger("n_fft");
  out.step = c.has("hop_length") ? c.plainInteger("hop_length") : out.length / 4;
  const int64_t inner = c.has("win_length") ? c.plainInteger("win_length") : out.length;
  if (out.length < 1 || out.step < 1 || inner < 1 || inner > out.length)
    fail("has frames of ", out.length, " elements every ", out.step, " and a window of ", inner,
         ", expected positive numbers and a window that is not longer than a frame");
  out.window = c.has("window") ? c.cast(c.tensor("window"), type) : c.filled({inner}, type, 1);
  if (shapeOf(out.window) != Sizes{inner})
    fail("has a window ", emit::showShape(shapeOf(out.window)), ", expected [", inner, "]");
  const int64_t before = (out.length - inner) / 2;
  out.window = c.e.pad(out.window, 0, before, out.length - inner - before);
  out.scale = c.boolean("normalized") ? 1 / std::sqrt(static_cast<double>(out.length)) : 1;
  return out;
}

Complex signalParts(OpCall &c) {
  if (const ComplexTensor *x = asComplex(c["self"]))
    return {c.read(x->real), c.read(x->imaginary)};
  return {c.floats("self"), {}};
}

// Applies the function to both parts.
template <typename Change> Complex changed(const Complex &x, Change change) {
  return {change(x.real), x.imaginary ? change(x.imaginary) : Array()};
}

Results complexResult(const Complex &x) {
  return complexOf(TensorState::create(x.real), TensorState::create(x.imaginary));
}

// `rank` dims, with a batch of 1 in front if that is missing.
Complex inBatch(OpCall &c, const Complex &x, int64_t rank) {
  const int64_t have = rankOf(x.real);
  if (have != rank && have != rank - 1)
    fail("has ", emit::showShape(shapeOf(x.real)), ", expected ", rank - 1, " or ", rank, " dims");
  return changed(x, [&](Array part) { return have == rank ? part : c.e.insertDim(part, 0); });
}

// -- into frequencies -----------------------------------------------------------------------------
emit::PadMode padModeOf(const std::string &name) {
  if (name == "reflect")
    return emit::PadMode::Reflect;
  if (name == "replicate")
    return emit::PadMode::Edge;
  if (name == "circular")
    return emit::PadMode::Wrap;
  if (name != "constant")
    fail("pads by '", name, "', expected constant, reflect, replicate or circular");
  return emit::PadMode::Constant;
}

Results transformed(OpCall &c, bool isCentred) {
  Complex given = signalParts(c), x = inBatch(c, given, 2);
  const Frames frames = framesOf(c, typeOf(x.real));
  if (c.has("align_to_window") && c.boolean("align_to_window"))
    fail("aligns frames to their windows (align_to_window=True), which Cleave does not do");
  if (isCentred) {
    const emit::PadMode mode = padModeOf(c.string("pad_mode"));
    const int64_t half = frames.length / 2;
    x = changed(x, [&](Array part) { return emit::padDim(c.e, part, 1, half, half, mode); });
  }
  const bool isOnesided = c.has("onesided") ? c.boolean("onesided") : !x.imaginary;
  if (isOnesided && x.imaginary)
    fail("gives half of the frequencies (onesided=True) of complex numbers");
  Complex out =
      emit::shortTimeFourier(c.e, x, frames.window, frames.length, frames.step, isOnesided);
  const bool isBatch = rankOf(given.real) == 2;
  out = changed(out, [&](Array part) {
    part = c.e.swapDims(frames.scale == 1 ? part : c.e.mul(part, frames.scale), 1, 2);
    return isBatch ? part : c.e.dropDim(part, 0);
  });
  if (c.has("return_complex") && !c.boolean("return_complex"))
    return call(c.context, "aten::view_as_real", {complexResult(out).values[0]});
  return complexResult(out);
}
Results stft(OpCall &c) { return transformed(c, /*isCentred=*/false); }
Results centredStft(OpCall &c) { return transformed(c, c.boolean("center")); }

// -- back from frequencies ------------------------------------------------------------------------
// Adds the frames [batch, count, length] at their places in the signal [batch, time].
Array overlapped(OpCall &c, Array frames, int64_t step) {
  const int64_t count = c.e.number(shapeOf(frames)[1], "number of frames"),
                length = c.e.number(shapeOf(frames)[2], "length of frames");
  if (count < 1 || count > emit::kMaxConstant / length)
    fail("has ", count, " frames of ", length, " elements, expected fewer, and at least one");
  Tensor places(ElementType::I64, {count, length});
  for (int64_t i = 0; i < places.size(); ++i)
    places.values[i] = static_cast<double>(i / length * step + i % length);
  const Sizes signal{shapeOf(frames)[0], length + (count - 1) * step};
  return graph::ScatterOp::create(c.e.b, c.e.loc, c.e.type(signal, elementTypeOf(frames)),
                                  Reduction::Sum, frames, c.e.constant(places), 1);
}

// The frames [batch, count, length] of frequencies [batch, count, …].
Complex framesFrom(OpCall &c, Complex x, const Frames &frames) {
  const int64_t half = frames.length / 2 + 1;
  const Polynomial bins = shapeOf(x.real)[2];
  const bool isOnesided =
      c.has("onesided") ? c.boolean("onesided") : bins != Polynomial(frames.length);
  if (bins != Polynomial(isOnesided ? half : frames.length))
    fail("has ", bins.str(), " frequencies, expected ", isOnesided ? half : frames.length);
  if (c.boolean("return_complex")) {
    if (isOnesided)
      fail("makes a complex signal of half of the frequencies (onesided=True)");
    return emit::inverseFourier(c.e, x, 2, frames.length);
  }
  x = changed(x, [&](Array part) { return c.e.slice(part, 2, 0, half); });
  return {emit::inverseRealFourier(c.e, x, 2, frames.length), {}};
}

Results istft(OpCall &c) {
  Complex given = signalParts(c);
  if (!given.imaginary)
    fail("has real numbers, expected complex ones");
  const bool isBatch = rankOf(given.real) == 3;
  const Frames frames = framesOf(c, typeOf(given.real));
  Complex x = changed(inBatch(c, given, 3), [&](Array part) {
    part = c.e.swapDims(part, 1, 2);
    return frames.scale == 1 ? part : c.e.div(part, frames.scale);
  });
  x = framesFrom(c, x, frames);
  const Sizes shape = shapeOf(x.real);
  Array square = c.e.mul(frames.window, frames.window);
  Array weight = overlapped(c, c.e.broadcast(square, {1, shape[1], shape[2]}), frames.step);
  const int64_t total = c.e.number(shapeOf(weight)[1], "length of the signal"),
                start = c.boolean("center") ? frames.length / 2 : 0;
  const int64_t wanted = c.has("length") ? c.plainInteger("length") : total - 2 * start;
  const int64_t size = std::min(wanted, total - start);
  if (size < 1)
    fail("makes a signal of ", size, " elements");
  auto signal = [&](Array part) {
    part = c.e.mul(part, c.e.broadcast(frames.window, shape));
    part = c.e.slice(overlapped(c, part, frames.step), 1, start, size);
    part = c.e.div(part, c.e.broadcast(c.e.slice(weight, 1, start, size), shapeOf(part)));
    part = c.e.pad(part, 1, 0, wanted - size);
    return isBatch ? part : c.e.dropDim(part, 0);
  };
  x = changed(x, signal);
  return x.imaginary ? complexResult(x) : Results(x.real);
}

#define CLEAVE_FRAMES "any self, i n_fft, i? hop_length=None, i? win_length=None, T? window=None, "
#define CLEAVE_SPECTRUM                                                                            \
  "b normalized=False, b? onesided=None, b? return_complex=None, b? align_to_window=None"
#define CLEAVE_WINDOW_PLACE "any layout=None, any device=None, any pin_memory=None"
constexpr const char *kWindow =
    "i window_length, b periodic=True, *, i? dtype=None, " CLEAVE_WINDOW_PLACE;

constexpr OpEntry kSignalOps[] = {
    {"bartlett_window", kWindow, bartlett},
    {"blackman_window", kWindow, blackman},
    {"hamming_window",
     "i window_length, b periodic=True, f alpha=0.54, f beta=0.46, *, i? "
     "dtype=None, " CLEAVE_WINDOW_PLACE,
     hamming},
    {"hann_window", kWindow, hann},
    {"istft",
     CLEAVE_FRAMES "b center=True, b normalized=False, b? onesided=None, i? length=None, "
                   "b return_complex=False",
     istft},
    {"kaiser_window",
     "i window_length, b periodic=True, f beta=12.0, *, i? dtype=None, " CLEAVE_WINDOW_PLACE,
     kaiser},
    {"stft", CLEAVE_FRAMES CLEAVE_SPECTRUM, stft},
    {"stft", CLEAVE_FRAMES "b center=True, str pad_mode='reflect', " CLEAVE_SPECTRUM, centredStft},
};

} // namespace

llvm::ArrayRef<OpEntry> signalOps() { return kSignalOps; }

} // namespace cleave::aten
