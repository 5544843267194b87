// Contrib: operators of the domain com.microsoft that ONNX Runtime's optimizer makes of others:
// activations, products and norms. Attention is in ContribAttention.cpp.
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/emit/Normalization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// -- activations ----------------------------------------------------------------------------------

// Input 0 plus input 1, an optional bias.
Value withBias(NodeImport &n, const Emitter &e) {
  Value x = n.input(0);
  n.checkFloat(x);
  return n.hasInput(1) ? e.add(x, e.broadcast(n.input(1), shapeOf(x))) : x;
}

Values importContribGelu(NodeImport &n) {
  n.checkInputs(1, 2);
  Emitter &e = n;
  return {emit::gelu(e, withBias(n, e))};
}

Values importFastGelu(NodeImport &n) {
  n.checkInputs(1, 2);
  Emitter &e = n;
  return {emit::gelu(e, withBias(n, e), /*byTanh=*/true)};
}

Values importQuickGelu(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return {emit::silu(n, n.input(0), n.decimal("alpha", 1.702))};
}

// -- products -------------------------------------------------------------------------------------

// Swaps the last two dims if the attribute `matrix` is set; moves the first dim behind the other
// batch dims if the attribute `batch` is set.
Value transposed(NodeImport &n, const Emitter &e, Value x, const char *matrix, const char *batch) {
  int64_t rank = rankOf(x);
  if (n.integer(batch, 0) && rank > 2) {
    Ints order;
    for (int64_t i = 1; i + 1 < rank; ++i)
      order.push_back(i);
    order.push_back(0);
    order.push_back(rank - 1);
    x = e.transpose(x, order);
  }
  return n.integer(matrix, 0) && rank > 1 ? e.swapDims(x, rank - 2, rank - 1) : x;
}

Values importFusedMatMul(NodeImport &n) {
  n.checkInputs(2, 2);
  Emitter &e = n;
  Value a = transposed(n, e, n.input(0), "transA", "transBatchA");
  Value b = transposed(n, e, n.input(1), "transB", "transBatchB");
  n.checkSameType(a, b);
  Value product = emit::matmul(e, a, b);
  double alpha = n.decimal("alpha", 1);
  return {alpha == 1 ? product : e.mul(product, alpha)};
}

// -- norms ----------------------------------------------------------------------------------------

Value layerNorm(NodeImport &n, Value x, Value scale, Value shift) {
  n.checkRank(x, 1);
  return emit::layerNorm(n, x, rankOf(x) - 1, scale, shift, n.decimal("epsilon", 1e-12));
}

// The sum of the inputs 0 and 1 (the skip connection, which may lack the batch dim) and of the
// optional bias at input `bias`.
Value skipSum(NodeImport &n, const Emitter &e, size_t bias) {
  Value x = n.input(0), skip = n.input(1);
  n.checkFloat(x);
  n.checkSameType(x, skip);
  Value sum = e.add(x, e.broadcast(skip, shapeOf(x)));
  return n.hasInput(bias) ? e.add(sum, e.broadcast(n.input(bias), shapeOf(x))) : sum;
}

// Outputs: the norm, its mean and deviation (not computed: null), the sum.
Values importSkipLayerNorm(NodeImport &n) {
  constexpr size_t kScale = 2, kShift = 3, kBias = 4;
  n.checkInputs(3, 5);
  Emitter &e = n;
  Value sum = skipSum(n, e, kBias);
  Value norm = layerNorm(n, sum, n.input(kScale), n.optionalInput(kShift));
  return {norm, Value(), Value(), sum};
}

Values importSkipRmsNorm(NodeImport &n) {
  constexpr size_t kScale = 2, kBias = 3;
  n.checkInputs(3, 4);
  Emitter &e = n;
  Value sum = skipSum(n, e, kBias);
  n.checkRank(sum, 1);
  Value norm = emit::rmsNorm(n, sum, rankOf(sum) - 1, n.input(kScale), n.decimal("epsilon", 1e-12));
  return {norm, Value(), Value(), sum};
}

Values importSimplifiedLayerNorm(NodeImport &n) {
  n.checkInputs(2, 2);
  n.ignore({"stash_type"});
  int64_t axis = n.axisAttribute(-1);
  return {emit::rmsNorm(n, n.input(0), axis, n.input(1), n.decimal("epsilon", 1e-5))};
}

// The number of words per line: the sum of the mask.
Value countOfWords(NodeImport &n, const Emitter &e, Value mask) {
  return e.cast(e.reduce(Reduction::Sum, mask, {rankOf(mask) - 1}), n.b.getI32Type());
}

// Inputs of EmbedLayerNormalization.
namespace embed_inputs {
enum Input : size_t {
  kWords,        // [batch, steps]
  kSegments,     // [batch, steps]; may be left out
  kWordTable,    // [words, size]
  kPlaceTable,   // [positions, size]
  kSegmentTable, // [segments, size]; may be left out
  kScale,        // [size]
  kShift,        // [size]
  kMask,         // [batch, steps]; may be left out
  kPlaces,       // [batch, steps]; may be left out
  kCount,
};
} // namespace embed_inputs

// Sums the embeddings of words, positions and segments, and normalises them.
Values importEmbedLayerNorm(NodeImport &n) {
  using namespace embed_inputs;
  n.checkInputs(1, kCount);
  if (int64_t type = n.integer("mask_index_type", 0); type != 0 && type != 1)
    fail("attribute 'mask_index_type' is ", type, ", expected 0 or 1");
  Emitter &e = n;
  auto take = [&](Value table, Value rows) -> Value { return n.gather(table, rows, 0); };
  Value words = n.input(kWords), positions = n.input(kPlaceTable);
  Value sum = take(n.input(kWordTable), words);
  Sizes dims = shapeOf(sum);
  Value place =
      n.hasInput(kPlaces) ? take(positions, n.input(kPlaces)) : e.slice(positions, 0, 0, dims[1]);
  sum = e.add(sum, e.broadcast(place, dims));
  if (n.hasInput(kSegments))
    sum = e.add(sum, take(n.input(kSegmentTable), n.input(kSegments)));
  Value counts = n.hasInput(kMask) ? countOfWords(n, e, n.input(kMask))
                                   : e.splat({dims[0]}, n.b.getI32Type(), 0);
  return {layerNorm(n, sum, n.input(kScale), n.input(kShift)), counts, sum};
}

constexpr OpEntry kContribOps[] = {
    // ONNX Runtime puts it in the standard domain.
    {"SimplifiedLayerNormalization", 1, importSimplifiedLayerNorm},
    {"com.microsoft:BiasGelu", 1, importContribGelu},
    {"com.microsoft:EmbedLayerNormalization", 1, importEmbedLayerNorm},
    {"com.microsoft:FastGelu", 1, importFastGelu},
    {"com.microsoft:FusedMatMul", 1, importFusedMatMul},
    {"com.microsoft:Gelu", 1, importContribGelu},
    {"com.microsoft:QuickGelu", 1, importQuickGelu},
    {"com.microsoft:SimplifiedLayerNormalization", 1, importSimplifiedLayerNorm},
    {"com.microsoft:SkipLayerNormalization", 1, importSkipLayerNorm},
    {"com.microsoft:SkipSimplifiedLayerNormalization", 1, importSkipRmsNorm},
};

} // namespace

llvm::ArrayRef<OpEntry> contribOps() { return kContribOps; }

} // namespace cleave::onnx
