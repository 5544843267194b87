// See AttentionGraph.h.
#include "runtime/device/cuda/AttentionGraph.h"

#include "runtime/artifact/Access.h"
#include "runtime/base/Concat.h"

#include <limits>

namespace cleave::device {
namespace {

using Tensor = DnnGraph::Tensor;
using Layout = DnnGraph::Layout;

// The places of the addresses.
enum AttentionPlace : size_t {
  kQuery,
  kKey,
  kValue,
  kResult,
  kLse,
  kGrad,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kSums
};

// Rows and columns exchanged.
Layout transposed(Layout layout) {
  std::swap(layout.dims[2], layout.dims[3]);
  std::swap(layout.strides[2], layout.strides[3]);
  return layout;
}

class AttentionBuilder {
public:
  AttentionBuilder(DnnGraph &graph, const plan::Attention &attention, int type)
      : graph_(graph), a_(attention), s_(artifact::sizesOf(attention)), type_(type),
        scores_{s_.batch, s_.heads, s_.queries, s_.keys}, rows_{s_.batch, s_.heads, s_.queries, 1} {
  }

  Status buildForward() {
    CLEAVE_TRY_ASSIGN(Tensor query, matrix(kQuery, queryLayout(a_.query())));
    CLEAVE_TRY_ASSIGN(Tensor key, matrix(kKey, transposed(keyLayout(a_.key()))));
    CLEAVE_TRY_ASSIGN(scale_, graph_.scalar(float(a_.scale())));
    CLEAVE_TRY_ASSIGN(Tensor scores, scaledScores(query, key));
    CLEAVE_TRY_ASSIGN(scores, hidden(scores));
    CLEAVE_TRY_ASSIGN(Tensor weights, softmax(scores));
    CLEAVE_TRY_ASSIGN(Tensor value, matrix(kValue, valueLayout(a_.value())));
    CLEAVE_TRY_ASSIGN(Tensor result, matrix(kResult, resultLayout(a_.result())));
    return graph_.matmulTo(weights, value, result);
  }

  Status buildGradient() {
    CLEAVE_TRY_ASSIGN(Tensor query, matrix(kQuery, queryLayout(a_.query())));
    CLEAVE_TRY_ASSIGN(Tensor key, matrix(kKey, transposed(keyLayout(a_.key()))));
    CLEAVE_TRY_ASSIGN(Tensor value, matrix(kValue, transposed(valueLayout(a_.value()))));
    CLEAVE_TRY_ASSIGN(Tensor grad, matrix(kGrad, resultLayout(a_.grad())));
    CLEAVE_TRY_ASSIGN(scale_, graph_.scalar(float(a_.scale())));
    CLEAVE_TRY_ASSIGN(Tensor sums, sumsOf(grad));
    CLEAVE_TRY_ASSIGN(Tensor weights, recomputeWeights(query, key));
    CLEAVE_TRY(addGradOfKeys(weights, grad, kValueGrad, valueLayout(a_.value_grad())));
    CLEAVE_TRY_ASSIGN(Tensor scoresGrad, scoresGradOf(grad, value, sums, weights));
    CLEAVE_TRY(addGradOfKeys(scoresGrad, query, kKeyGrad, keyLayout(a_.key_grad())));
    CLEAVE_TRY_ASSIGN(Tensor rowsOfKeys, graph_.inside(keyLayout(a_.key()), type_));
    CLEAVE_TRY(graph_.reshapeTo(key, rowsOfKeys));
    CLEAVE_TRY_ASSIGN(Tensor queryGrad, matrix(kQueryGrad, queryLayout(a_.query_grad())));
    return graph_.matmulTo(scoresGrad, rowsOfKeys, queryGrad);
  }

private:
  // -- tensors --

  // The layout of an operand as batch, heads, rows, columns.
  Layout layoutOf(const plan::StridedOperand &operand, int64_t heads, int64_t rows,
                  int64_t columns) const {
    std::vector<int64_t> strides(operand.strides().begin(), operand.strides().end());
    if (a_.batch_size() == 0)
      strides.insert(strides.begin(), strides.empty() ? 1 : strides[0] * heads);
    strides.resize(4, 1); // lse has no columns
    return {{s_.batch, heads, rows, columns}, strides};
  }
  Layout queryLayout(const plan::StridedOperand &operand) const {
    return layoutOf(operand, s_.heads, s_.queries, s_.width);
  }
  Layout keyLayout(const plan::StridedOperand &operand) const {
    return layoutOf(operand, s_.groups, s_.keys, s_.width);
  }
  Layout valueLayout(const plan::StridedOperand &operand) const {
    return layoutOf(operand, s_.groups, s_.keys, s_.depth);
  }
  Layout resultLayout(const plan::StridedOperand &operand) const {
    return layoutOf(operand, s_.heads, s_.queries, s_.depth);
  }
  Result<Tensor> matrix(AttentionPlace place, const Layout &layout) {
    return graph_.inMemory(layout, type_, place);
  }
  Result<Tensor> lse() {
    return graph_.inMemory(layoutOf(a_.lse(), s_.heads, s_.queries, 1), dnn::kF32, kLse);
  }

  // -- parts --

  Result<Tensor> scaledScores(Tensor query, Tensor key) {
    CLEAVE_TRY_ASSIGN(Tensor product, graph_.inside(scores_, dnn::kF32));
    CLEAVE_TRY(graph_.matmulTo(query, key, product));
    return graph_.pointwise(dnn::kMul, product, scale_);
  }

  // If causal, scores of keys after the query become minus infinity, whose weight is 0.
  Result<Tensor> hidden(Tensor scores) {
    if (!a_.causal())
      return scores;
    CLEAVE_TRY_ASSIGN(Tensor row, graph_.genIndex(2, scores));
    CLEAVE_TRY_ASSIGN(Tensor column, graph_.genIndex(3, scores));
    CLEAVE_TRY_ASSIGN(Tensor isVisible, graph_.inside(scores_, dnn::kBool));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kCompareGe, {row, column}, isVisible));
    CLEAVE_TRY_ASSIGN(Tensor fill, graph_.scalar(-std::numeric_limits<float>::infinity()));
    CLEAVE_TRY_ASSIGN(Tensor result, graph_.inside(scores_, dnn::kF32));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kBinarySelect, {scores, fill, isVisible}, result));
    return result;
  }

  // The weights, and lse in memory.
  Result<Tensor> softmax(Tensor scores) {
    CLEAVE_TRY_ASSIGN(Tensor largest, graph_.reduction(dnn::kReduceMax, scores, rows_));
    CLEAVE_TRY_ASSIGN(Tensor difference, graph_.pointwise(dnn::kSub, scores, largest));
    CLEAVE_TRY_ASSIGN(Tensor power, graph_.pointwise(dnn::kExp, difference));
    CLEAVE_TRY_ASSIGN(Tensor sum, graph_.reduction(dnn::kReduceAdd, power, rows_));
    CLEAVE_TRY_ASSIGN(Tensor logarithm, graph_.pointwise(dnn::kLog, sum));
    CLEAVE_TRY_ASSIGN(Tensor written, lse());
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kAdd, {largest, logarithm}, written));
    CLEAVE_TRY_ASSIGN(Tensor weights, graph_.inside(scores_, type_));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kDiv, {power, sum}, weights));
    return weights;
  }

  // cuDNN expects a factor where dropout has one.
  Result<Tensor> sumsOf(Tensor grad) {
    CLEAVE_TRY_ASSIGN(Tensor result, matrix(kResult, resultLayout(a_.result())));
    CLEAVE_TRY_ASSIGN(Tensor products, graph_.pointwise(dnn::kMul, grad, result));
    CLEAVE_TRY_ASSIGN(Tensor sums, graph_.reduction(dnn::kReduceAdd, products, rows_));
    CLEAVE_TRY_ASSIGN(Tensor one, graph_.scalar(1));
    const Layout dense{rows_, {s_.heads * s_.queries, s_.queries, 1, 1}};
    CLEAVE_TRY_ASSIGN(Tensor written, graph_.inMemory(dense, dnn::kF32, kSums));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kMul, {sums, one}, written));
    return written;
  }

  Result<Tensor> recomputeWeights(Tensor query, Tensor key) {
    CLEAVE_TRY_ASSIGN(Tensor scores, scaledScores(query, key));
    CLEAVE_TRY_ASSIGN(Tensor read, lse());
    CLEAVE_TRY_ASSIGN(scores, graph_.pointwise(dnn::kSub, scores, read));
    CLEAVE_TRY_ASSIGN(scores, hidden(scores));
    return graph_.pointwise(dnn::kExp, scores);
  }

  Result<Tensor> scoresGradOf(Tensor grad, Tensor value, Tensor sums, Tensor weights) {
    CLEAVE_TRY_ASSIGN(Tensor product, graph_.inside(scores_, dnn::kF32));
    CLEAVE_TRY(graph_.matmulTo(grad, value, product));
    CLEAVE_TRY_ASSIGN(Tensor difference, graph_.pointwise(dnn::kSub, product, sums));
    CLEAVE_TRY_ASSIGN(Tensor weighted, graph_.pointwise(dnn::kMul, difference, weights));
    return graph_.pointwise(dnn::kMul, weighted, scale_);
  }

  // perScoreᵀ rows, summed over the heads that share one of key and value, where the layout says.
  Status addGradOfKeys(Tensor perScore, Tensor rows, AttentionPlace place, const Layout &layout) {
    const Layout whole{scores_,
                       {s_.heads * s_.queries * s_.keys, s_.queries * s_.keys, s_.keys, 1}};
    CLEAVE_TRY_ASSIGN(Tensor turned, graph_.inside(transposed(whole), type_));
    CLEAVE_TRY(graph_.reshapeTo(perScore, turned));
    CLEAVE_TRY_ASSIGN(Tensor written, matrix(place, layout));
    if (s_.heads == s_.groups)
      return graph_.matmulTo(turned, rows, written);
    CLEAVE_TRY_ASSIGN(
        Tensor perHead,
        graph_.inside(std::vector<int64_t>{s_.batch, s_.heads, s_.keys, layout.dims[3]}, type_));
    CLEAVE_TRY(graph_.matmulTo(turned, rows, perHead));
    return graph_.reductionTo(dnn::kReduceAdd, perHead, written);
  }

  DnnGraph &graph_;
  const plan::Attention &a_;
  const AttentionSizes s_;
  const int type_;
  const std::vector<int64_t> scores_, rows_; // shapes of the scores, and of one number per query
  Tensor scale_ = 0;
};

} // namespace

std::string attentionRefusal(const plan::Attention &a, DType dtype, size_t version) {
  // Before 9.16, gradients of sequences whose length is not a multiple of 128 need another graph.
  constexpr size_t kOldest = 91600;
  if (version < kOldest)
    return concat("found cuDNN ", version / 10000, ".", version / 100 % 100,
                  ", expected at least 9.16");
  if (dtype != DType::BF16 && dtype != DType::F16)
    return concat("it has no engines for ", name(dtype), ", only for bf16 and f16");
  if (a.drop_rate() > 0)
    return "its random numbers of dropout differ from those of the plan";
  if (a.has_mask() || a.has_bias())
    return "a mask or a bias can hide all keys of a query, for which its result differs";
  if (a.causal() && a.offsets_size())
    return "the first query of a causal block is known at run time only";
  if (a.batch_size() > 1)
    return concat("it has one batch dim, the instruction ", a.batch_size());
  if (a.causal() && a.fill() > -1e4)
    return concat("hidden scores are ", a.fill(), ", expected a large negative number");
  return "";
}

uint64_t attentionGraphBytes(const plan::Attention &a) {
  return a.has_grad() ? uint64_t(attentionSumBytes(artifact::sizesOf(a))) : 0;
}

DnnGraph::Addresses attentionAddresses(const plan::Attention &a, const AttentionOperands &at) {
  auto start = [](void *buffer, const plan::StridedOperand &operand, DType dtype) -> void * {
    return buffer ? static_cast<char *>(buffer) + operand.offset() * byteSize(dtype) : nullptr;
  };
  DnnGraph::Addresses addresses(kSums + 1);
  addresses[kQuery] = start(at.query, a.query(), at.dtype);
  addresses[kKey] = start(at.key, a.key(), at.dtype);
  addresses[kValue] = start(at.value, a.value(), at.dtype);
  addresses[kResult] = start(at.result, a.result(), at.dtype);
  addresses[kLse] = start(at.lse, a.lse(), DType::F32);
  addresses[kGrad] = start(at.grad, a.grad(), at.dtype);
  addresses[kQueryGrad] = start(at.queryGrad, a.query_grad(), at.dtype);
  addresses[kKeyGrad] = start(at.keyGrad, a.key_grad(), at.dtype);
  addresses[kValueGrad] = start(at.valueGrad, a.value_grad(), at.dtype);
  addresses[kSums] = at.workspace.address;
  return addresses;
}

Status buildAttention(DnnGraph &graph, const plan::Attention &attention, int type) {
  AttentionBuilder builder(graph, attention, type);
  return attention.has_grad() ? builder.buildGradient() : builder.buildForward();
}

} // namespace cleave::device
