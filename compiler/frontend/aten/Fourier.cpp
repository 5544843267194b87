// Discrete Fourier transforms of real and complex tensors (torch.fft).
#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Spectral.h"

#include <array>
#include <cmath>

namespace cleave::aten {
namespace {

// What the numbers are before and after: complex, or the real signal of half of the frequencies.
enum class Kind { Complex, FromReal, ToReal };

// A transform along some dims, in PyTorch's terms.
struct Transform {
  Kind kind = Kind::Complex;
  bool isInverse = false;
  Ints dims = {}, lengths = {}; // of the signal
  double factor = 1;            // of the result, where the inverse is divided by all lengths
};

emit::Complex partsOf(OpCall &c) {
  if (const ComplexTensor *x = asComplex(c["self"]))
    return {c.read(x->real), c.read(x->imaginary)};
  return {c.floats("self"), {}};
}

// A real tensor is transformed along the last of the dims first, and to a real one last.
Results transformed(OpCall &c, const Transform &t) {
  emit::Complex x = partsOf(c);
  if (t.kind == Kind::FromReal && x.imaginary)
    fail("transforms complex numbers, expected real ones");
  const size_t others = t.dims.size() - (t.kind == Kind::Complex ? 0 : 1);
  auto scaled = [&](Array value) { return t.factor == 1 ? value : c.e.mul(value, t.factor); };
  if (t.kind == Kind::FromReal)
    x = emit::fourier(c.e, x, t.dims.back(), t.lengths.back(), /*onesided=*/true);
  for (size_t i = 0; i < others; ++i)
    x = t.isInverse ? emit::inverseFourier(c.e, x, t.dims[i], t.lengths[i])
                    : emit::fourier(c.e, x, t.dims[i], t.lengths[i], /*onesided=*/false);
  if (t.kind == Kind::ToReal)
    return scaled(emit::inverseRealFourier(c.e, x, t.dims.back(), t.lengths.back()));
  return complexOf(TensorState::create(scaled(x.real)), TensorState::create(scaled(x.imaginary)));
}

// How results are scaled: the sum itself, divided by the root of the number of elements, or by it.
enum class Scale { Sum, Root, Mean };

Scale scaleOf(OpCall &c, bool isInverse) {
  const std::string norm = c.has("norm") ? c.string("norm") : "backward";
  if (norm == "ortho")
    return Scale::Root;
  if (norm != "backward" && norm != "forward")
    fail("has the norm '", norm, "', expected backward, ortho or forward");
  return (norm == "backward") == isInverse ? Scale::Mean : Scale::Sum;
}

// Along `dims` of the tensor; `given` are the lengths, one per dim or none.
Results along(OpCall &c, Transform t, const Ints &dims, const Ints &given, Scale scale) {
  const Array part = partsOf(c).real;
  if (dims.empty() || (!given.empty() && given.size() != dims.size()))
    fail("has ", given.size(), " lengths for ", dims.size(), " dims");
  for (int64_t dim : dims)
    t.dims.push_back(c.e.axis(dim, rankOf(part)));
  c.e.axes(t.dims, rankOf(part)); // fails on duplicates
  double count = 1;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    const bool isHalf = t.kind == Kind::ToReal && i + 1 == t.dims.size();
    const int64_t whole = c.e.number(c.e.dim(part, t.dims[i]), "number of transformed elements");
    const int64_t length = given.empty() ? -1 : given[i];
    t.lengths.push_back(length >= 0 ? length : isHalf ? 2 * (whole - 1) : whole);
    count *= static_cast<double>(t.lengths.back());
  }
  t.factor = t.isInverse ? count : 1;
  t.factor /= scale == Scale::Sum ? 1 : scale == Scale::Root ? std::sqrt(count) : count;
  return transformed(c, t);
}

template <Kind kind, bool isInverse> Results alongOne(OpCall &c) {
  Ints lengths;
  if (c.has("n"))
    lengths.push_back(c.plainInteger("n"));
  return along(c, {kind, isInverse}, {c.plainInteger("dim")}, lengths, scaleOf(c, isInverse));
}

// Without dims the last ones: two, as many as there are lengths, or all.
template <Kind kind, bool isInverse, bool isPlane> Results alongSeveral(OpCall &c) {
  const Ints lengths = c.has("s") ? c.plainIntegers("s") : Ints();
  Ints dims = c.has("dim") ? c.plainIntegers("dim") : Ints();
  const int64_t last = isPlane           ? 2
                       : lengths.empty() ? rankOf(partsOf(c).real)
                                         : static_cast<int64_t>(lengths.size());
  for (int64_t dim = -last; !c.has("dim") && dim < 0; ++dim)
    dims.push_back(dim);
  return along(c, {kind, isInverse}, dims, lengths, scaleOf(c, isInverse));
}

// As decompositions write them, with the number of a scale.
Scale numberedScale(OpCall &c) {
  const int64_t number = c.plainInteger("normalization");
  if (number < 0 || number > 2)
    fail("has the normalization ", number, ", expected 0, 1 or 2");
  return std::array{Scale::Sum, Scale::Root, Scale::Mean}[number];
}
Results complexToComplex(OpCall &c) {
  return along(c, {Kind::Complex, !c.boolean("forward")}, c.plainIntegers("dim"), {},
               numberedScale(c));
}
Results realToComplex(OpCall &c) {
  const Kind kind = c.boolean("onesided") ? Kind::FromReal : Kind::Complex;
  return along(c, {kind, false}, c.plainIntegers("dim"), {}, numberedScale(c));
}
Results complexToReal(OpCall &c) {
  const Ints dims = c.plainIntegers("dim");
  Ints lengths(dims.size(), -1); // as they are
  if (!lengths.empty())
    lengths.back() = c.plainInteger("last_dim_size");
  return along(c, {Kind::ToReal, true}, dims, lengths, numberedScale(c));
}

constexpr const char *kOne = "any self, i? n=None, i dim=-1, str? norm=None";
constexpr const char *kSeveral = "any self, i[]? s=None, i[]? dim=None, str? norm=None";

constexpr OpEntry kFourierOps[] = {
    {"_fft_c2c", "any self, i[] dim, i normalization, b forward", complexToComplex},
    {"_fft_c2r", "any self, i[] dim, i normalization, i last_dim_size", complexToReal},
    {"_fft_r2c", "any self, i[] dim, i normalization, b onesided", realToComplex},
    {"fft_fft", kOne, alongOne<Kind::Complex, false>},
    {"fft_fft2", kSeveral, alongSeveral<Kind::Complex, false, true>},
    {"fft_fftn", kSeveral, alongSeveral<Kind::Complex, false, false>},
    {"fft_ifft", kOne, alongOne<Kind::Complex, true>},
    {"fft_ifft2", kSeveral, alongSeveral<Kind::Complex, true, true>},
    {"fft_ifftn", kSeveral, alongSeveral<Kind::Complex, true, false>},
    {"fft_irfft", kOne, alongOne<Kind::ToReal, true>},
    {"fft_irfft2", kSeveral, alongSeveral<Kind::ToReal, true, true>},
    {"fft_irfftn", kSeveral, alongSeveral<Kind::ToReal, true, false>},
    {"fft_rfft", kOne, alongOne<Kind::FromReal, false>},
    {"fft_rfft2", kSeveral, alongSeveral<Kind::FromReal, false, true>},
    {"fft_rfftn", kSeveral, alongSeveral<Kind::FromReal, false, false>},
};

} // namespace

llvm::ArrayRef<OpEntry> fourierOps() { return kFourierOps; }

} // namespace cleave::aten
