// Attention as plain loops: the definition of graph.attention and graph.attention_grad.
#include "dialects/graph/Attention.h"

#include "dialects/graph/Pointwise.h"
#include "dialects/graph/Random.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::graph {
namespace {

// The scores of whole tensors, by the row-major position r of a row [batch…, heads, queries] and
// the index t of a key.
class Rows {
public:
  Rows(const AttentionScores &scores, ArrayRef<Tensor> operands)
      : scores_(scores), operands_(operands), q_(*of(scores.query)), k_(*of(scores.key)),
        bias_(of(scores.bias)), mask_(of(scores.mask)), shape_(q_.shape) {
    shape_.back() = k_.shape[k_.rank() - 2];
    perGroup_ = scores.headsPerGroup();
    begin_.assign(shape_.size(), 0);
    for (auto [dim, offset] : llvm::zip(scores.offsetDims, scores.offsets))
      begin_[dim] = static_cast<int64_t>(of(offset)->values[0]);
    whole_ = scores.whole.empty() ? shape_ : scores.whole.vec();
  }

  int64_t keys() const { return shape_.back(); }
  int64_t rows() const {
    int64_t rows = 1;
    for (int64_t size : ArrayRef(shape_).drop_back())
      rows *= size;
    return rows;
  }
  // The position of a key's row in the tensors of keys and values.
  int64_t keyRow(int64_t r, int64_t t) const { return r / queries() / perGroup_ * keys() + t; }

  bool isVisible(int64_t r, int64_t t) const {
    bool isCausal = !scores_.causal || t <= begin_[begin_.size() - 2] + r % queries();
    return isCausal && (!mask_ || mask_->values[position(*mask_, r, t)] != 0);
  }

  double score(int64_t r, int64_t t) const {
    if (!isVisible(r, t))
      return scores_.fillValue();
    int64_t width = q_.shape.back();
    double sum = 0;
    for (int64_t d = 0; d < width; ++d)
      sum += q_.values[r * width + d] * k_.values[keyRow(r, t) * width + d];
    return scores_.scale * sum + (bias_ ? bias_->values[position(*bias_, r, t)] : 0);
  }

  // 0 or 1 / (1 - rate), by the position of the score in the whole tensor of scores.
  double drop(int64_t r, int64_t t) const {
    if (!scores_.drops())
      return 1;
    int64_t number = 0, stride = keys();
    for (size_t d = shape_.size() - 1; d-- > 0; r /= shape_[d]) {
      number += (begin_[d] + r % shape_[d]) * stride;
      stride *= whole_[d];
    }
    return dropFactor(scores_.dropRate(), of(scores_.seed)->values[0], number + t);
  }

  // The position in a bias or a mask, whose dims of size 1 are repeated.
  int64_t position(const Tensor &added, int64_t r, int64_t t) const {
    int64_t position = added.shape.back() == 1 ? 0 : t, stride = added.shape.back();
    for (size_t d = shape_.size() - 1; d-- > 0; r /= shape_[d]) {
      position += added.shape[d] == 1 ? 0 : r % shape_[d] * stride;
      stride *= added.shape[d];
    }
    return position;
  }

private:
  int64_t queries() const { return shape_[shape_.size() - 2]; }

  // The tensor of an operand; null for an absent one.
  const Tensor *of(Value operand) const {
    for (auto [value, tensor] : llvm::zip(scores_.op->getOperands(), operands_))
      if (value == operand)
        return &tensor;
    return nullptr;
  }

  const AttentionScores &scores_;
  ArrayRef<Tensor> operands_;
  const Tensor &q_, &k_, *bias_, *mask_;
  std::vector<int64_t> shape_; // of the scores
  int64_t perGroup_;
  std::vector<int64_t> begin_, whole_; // per dim of the scores
};

// Turns the scores of a row into weights and returns their log-sum-exp.
double toWeights(std::vector<double> &row, bool isSafe) {
  double largest = -kInfinity, sum = 0;
  for (double score : row)
    largest = maximum(largest, score);
  for (double &score : row)
    sum += score = std::exp(score - largest);
  for (double &weight : row)
    weight = isSafe && std::isnan(sum) ? 0 : weight / sum;
  return isSafe && std::isnan(sum) ? kInfinity : largest + std::log(sum);
}

Tensor zerosLike(Value result, const std::vector<int64_t> &shape) {
  return Tensor(toElementType(elementTypeOf(result)), shape);
}

} // namespace

SmallVector<Tensor> AttentionOp::evaluate(ArrayRef<Tensor> operands) {
  AttentionScores scores(*this);
  Rows rows(scores, operands);
  const Tensor &v = operands[2];
  std::vector<int64_t> shape = operands[0].shape;
  int64_t depth = v.shape.back();
  shape.back() = depth;
  Tensor result = zerosLike(getResult(), shape);
  shape.pop_back();
  Tensor lse = zerosLike(getLse(), shape);
  std::vector<double> row(rows.keys());
  for (int64_t r = 0; r < rows.rows(); ++r) {
    bool seesNone = true;
    for (int64_t t = 0; t < rows.keys(); ++t) {
      row[t] = rows.score(r, t);
      seesNone &= !rows.isVisible(r, t);
    }
    double sum = toWeights(row, getSafe());
    lse.set(r, seesNone && scores.fill && !std::isinf(*scores.fill) ? -kInfinity : sum);
    for (int64_t e = 0; e < depth; ++e) {
      double sum = 0;
      for (int64_t t = 0; t < rows.keys(); ++t)
        sum += rows.drop(r, t) * row[t] * v.values[rows.keyRow(r, t) * depth + e];
      result.set(r * depth + e, sum);
    }
  }
  return {result, lse};
}

namespace {

double dot(const Tensor &a, int64_t rowOfA, const Tensor &b, int64_t rowOfB) {
  int64_t width = a.shape.back();
  double sum = 0;
  for (int64_t d = 0; d < width; ++d)
    sum += a.values[rowOfA * width + d] * b.values[rowOfB * width + d];
  return sum;
}

// sums[row] += factor * x[rowOfX], without rounding.
void addRow(Tensor &sums, int64_t row, double factor, const Tensor &x, int64_t rowOfX) {
  int64_t width = x.shape.back();
  for (int64_t d = 0; d < width; ++d)
    sums.values[row * width + d] += factor * x.values[rowOfX * width + d];
}

double weightOf(const Rows &rows, int64_t r, int64_t t, double lse) {
  if (lse == -kInfinity)
    return 1.0 / static_cast<double>(rows.keys());
  return lse == kInfinity ? 0 : std::exp(rows.score(r, t) - lse);
}

void roundAll(Tensor &tensor) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, tensor.values[i]);
}

} // namespace

SmallVector<Tensor> AttentionGradOp::evaluate(ArrayRef<Tensor> operands) {
  AttentionScores scores(*this);
  Rows rows(scores, operands);
  const Tensor &q = operands[0], &k = operands[1], &v = operands[2], &result = operands[3],
               &lse = operands[4], &grad = operands[5];
  SmallVector<Tensor> grads;
  for (auto [i, type] : llvm::enumerate(getResultTypes()))
    grads.push_back(Tensor(toElementType(elementTypeOf(type)), operands[i < 3 ? i : 6].shape));
  for (int64_t r = 0; r < rows.rows(); ++r) {
    double delta = dot(grad, r, result, r);
    for (int64_t t = 0; t < rows.keys(); ++t) {
      int64_t key = rows.keyRow(r, t);
      double weight = weightOf(rows, r, t, lse.values[r]), drop = rows.drop(r, t);
      addRow(grads[2], key, weight * drop, grad, r);
      if (!rows.isVisible(r, t))
        continue;
      double dScore = weight * (drop * dot(grad, r, v, key) - delta);
      addRow(grads[0], r, scores.scale * dScore, k, key);
      addRow(grads[1], key, scores.scale * dScore, q, r);
      if (getBiasGrad())
        grads[3].values[rows.position(operands[6], r, t)] += dScore;
    }
  }
  for (Tensor &tensor : grads)
    roundAll(tensor);
  return grads;
}

} // namespace cleave::graph
