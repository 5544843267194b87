// FlexAttention: attention with subgraphs that modify scores and weights.
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Normalization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using namespace emit;

// Applies the subgraph of this name to x, if the node has one.
Value through(NodeImport &n, const char *name, Value x) {
  if (!n.hasAttribute(name))
    return x;
  Bindings results = n.services.importSubgraph(n.graph(name), {Binding{{x}}});
  if (results.size() != 1 || !results[0].isTensor() ||
      results[0].values[0].getType() != x.getType())
    fail("the subgraph '", name, "' gives something else than it gets, ", showShape(shapeOf(x)));
  return results[0].values[0];
}

// Repeats the heads of keys or values to `heads` heads.
Value repeated(NodeImport &n, Value x, int64_t heads) {
  Sizes d = shapeOf(x);
  int64_t found = n.number(d[1], "number of heads");
  if (found < 1 || heads % found)
    fail("has ", heads, " heads of queries for ", found, " of keys");
  Value groups = n.broadcast(n.insertDim(x, 2), {d[0], d[1], heads / found, d[2], d[3]});
  return n.reshape(groups, {d[0], heads, d[2], d[3]});
}

// The type in which scores and weights are computed.
mlir::Type precisionOf(NodeImport &n, Value q) {
  mlir::Type absent = elementOf(q).isF64() ? elementOf(q) : mlir::Type(n.b.getF32Type());
  auto number = static_cast<int32_t>(n.integer("softmax_precision", 0));
  std::optional<ElementType> type = elementTypeOf(number);
  return type && isFloat(*type) ? graph::fromElementType(*type, n.b.getContext()) : absent;
}

Values importFlexAttention(NodeImport &n) {
  n.checkInputs(3, 3);
  Value q = n.input(0), k = n.input(1), v = n.input(2);
  n.checkFloat(q);
  if (rankOf(q) != 4 || rankOf(k) != 4 || rankOf(v) != 4)
    fail("has queries ", showShape(shapeOf(q)), ", expected 4 dims");
  mlir::Type precision = precisionOf(n, q);
  int64_t heads = n.number(shapeOf(q)[1], "number of heads");
  int64_t size = n.number(shapeOf(q)[3], "head size");
  double scale = n.decimal("scale", 1 / std::sqrt(static_cast<double>(size)));
  Value scores =
      matmul(n, n.cast(q, precision), n.cast(n.swapDims(repeated(n, k, heads), 2, 3), precision));
  scores = through(n, "score_mod", n.mul(scores, scale));
  Value weights = through(n, "prob_mod", softmax(n, scores, 3));
  return {matmul(n, n.cast(weights, elementOf(v)), repeated(n, v, heads))};
}

constexpr OpEntry kFlexAttentionOps[] = {
    {"ai.onnx.preview:FlexAttention", 1, importFlexAttention},
};

} // namespace

llvm::ArrayRef<OpEntry> flexAttentionOps() { return kFlexAttentionOps; }

} // namespace cleave::onnx
