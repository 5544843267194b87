// Generators: constant tensors: identity matrices, window functions, mel filters.
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>
#include <numbers>

namespace cleave::onnx {
namespace {

using namespace emit;

// The element type that the attribute names; `absent` if it is missing.
ElementType typeAttribute(NodeImport &n, const std::string &name, ElementType absent) {
  if (!n.hasAttribute(name))
    return absent;
  auto number = static_cast<int32_t>(n.integer(name, 0));
  std::optional<ElementType> type = elementTypeOf(number);
  if (!type)
    fail("gives ", dataTypeName(number), ", which Cleave does not compute with");
  return *type;
}

// 1 on the k-th diagonal, 0 elsewhere.
Values importEyeLike(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  if (rankOf(x) != 2)
    fail("has an operand of ", rankOf(x), " dims, expected 2");
  Emitter &e = n;
  ElementType type = typeAttribute(n, "dtype", graph::toElementType(elementOf(x)));
  Sizes dims = shapeOf(x);
  Value row = e.iota(dims, 0, n.b.getI64Type()), column = e.iota(dims, 1, n.b.getI64Type());
  row = e.add(row, static_cast<double>(n.integer("k", 0)));
  Value isOne = e.compare(Predicate::EQ, column, row);
  return {e.cast(isOne, graph::fromElementType(type, n.b.getContext()))};
}

// A window function that is a sum of cosines: weights[i] cos(2 π i t / period) summed over i.
Values window(NodeImport &n, std::vector<double> weights) {
  n.checkInputs(1, 1);
  bool periodic = n.integer("periodic", 1);
  ElementType type = typeAttribute(n, "output_datatype", ElementType::F32);
  int64_t size = n.integerInput(0, "size");
  if (size < 0 || size > emit::kMaxConstant)
    fail("has the size ", size, ", expected 0 to 2^24");
  double period = static_cast<double>(periodic ? size : size - 1);
  Tensor out(type, {size});
  for (int64_t t = 0; t < size; ++t) {
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      sum += weights[i] * std::cos(2 * std::numbers::pi * static_cast<double>(i) *
                                   static_cast<double>(t) / period);
    out.set(t, sum);
  }
  return {n.constant(out)};
}

Values importHann(NodeImport &n) { return window(n, {0.5, -0.5}); }
Values importHamming(NodeImport &n) { return window(n, {25.0 / 46, -21.0 / 46}); }
Values importBlackman(NodeImport &n) { return window(n, {0.42, -0.5, 0.08}); }

double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertzOf(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }

// Triangular filters over the bins of a spectrum, equally wide on the mel scale: [spectrum bins,
// mel bins].
Values importMelWeights(NodeImport &n) {
  n.checkInputs(5, 5);
  ElementType type = typeAttribute(n, "output_datatype", ElementType::F32);
  int64_t bins = n.integerInput(0, "number of mel bins"), length = n.integerInput(1, "DFT length"),
          rate = n.integerInput(2, "sample rate");
  double low = melOf(n.decimalInput(3, "lower edge")),
         high = melOf(n.decimalInput(4, "upper edge"));
  if (bins < 1 || bins > (1 << 16) || length < 1 || length > (1 << 24) || rate < 1 ||
      (length / 2 + 1) * bins > emit::kMaxConstant)
    fail("has ", bins, " mel bins, a DFT of ", length, " and a rate of ", rate);
  int64_t spectrum = length / 2 + 1;
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz =
        hertzOf(low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2));
    int64_t corner = emit::truncated(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
    if (corner < 0 || corner >= spectrum)
      fail("has mel bins up to element ", corner, " of a spectrum of ", spectrum);
    corners.push_back(corner);
  }
  Tensor out(type, {spectrum, bins});
  for (int64_t bin = 0; bin < bins; ++bin) {
    int64_t left = corners[bin], middle = corners[bin + 1], right = corners[bin + 2];
    out.set(middle * bins + bin, 1);
    for (int64_t at = left; at < middle; ++at)
      out.set(at * bins + bin, static_cast<double>(at - left) / static_cast<double>(middle - left));
    for (int64_t at = middle; at < right; ++at)
      out.set(at * bins + bin,
              static_cast<double>(right - at) / static_cast<double>(right - middle));
  }
  return {n.constant(out)};
}

constexpr OpEntry kGeneratorsOps[] = {
    {"BlackmanWindow", 17, importBlackman},    {"EyeLike", 9, importEyeLike},
    {"HammingWindow", 17, importHamming},      {"HannWindow", 17, importHann},
    {"MelWeightMatrix", 17, importMelWeights},
};

} // namespace

llvm::ArrayRef<OpEntry> generatorOps() { return kGeneratorsOps; }

} // namespace cleave::onnx
