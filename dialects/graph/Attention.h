// What graph.attention and graph.attention_grad share: the scores and their weights, and builders.
// Attention.cpp holds types and verification, AttentionRules.cpp factor rules and costs,
// AttentionReference.cpp the plain loops, AttentionDecomposition.cpp the simpler ops.
#pragma once

#include "dialects/graph/Build.h"
#include "runtime/base/AttentionScratch.h"

#include <limits>
#include <string>

namespace cleave::graph {

// Minus this is the score of a hidden key.
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The operands and attributes from which both ops compute their scores and weights; see
// Attention.td. Optional ones are null, or empty.
struct AttentionScores {
  mlir::Operation *op;
  mlir::Value query, key, value, bias, mask, seed;
  mlir::ValueRange offsets;
  double scale;
  bool causal;
  std::optional<double> fill;
  mlir::FloatAttr dropout;
  llvm::ArrayRef<int64_t> offsetDims, whole;

  explicit AttentionScores(AttentionOp op) : AttentionScores(op, op.getFill()) {}
  explicit AttentionScores(AttentionGradOp op) : AttentionScores(op, op.getFill()) {}

  // [batch…, heads, queries, keys].
  Shape shape() const;
  // The number of neighbouring heads of the query that share one head of key and value.
  int64_t headsPerGroup() const;
  // The score of a key that is not visible.
  double fillValue() const;
  // The type in which scores, weights and their log-sum-exp are computed: f64 for f64 values, else
  // f32.
  mlir::Type wideType() const;
  // Whether elements are dropped: with a seed and a rate above 0.
  bool drops() const;
  // The rate of dropout; 0 if there is none.
  double dropRate() const;
  // Why cuDNN, the library of GPUs, cannot compute the op; empty if it can. Depends only on what is
  // the same on all ranks that split batch or heads.
  std::string libraryRefusal() const;

private:
  template <typename Op>
  AttentionScores(Op op, std::optional<llvm::APFloat> fillAttr)
      : op(op), query(op.getQuery()), key(op.getKey()), value(op.getValue()), bias(op.getBias()),
        mask(op.getMask()), seed(op.getSeed()), offsets(op.getOffsets()),
        scale(op.getScale().convertToDouble()), causal(op.getCausal()),
        dropout(op.getDropoutAttr()),
        offsetDims(op.getOffsetDims().value_or(llvm::ArrayRef<int64_t>())),
        whole(op.getWhole().value_or(llvm::ArrayRef<int64_t>())) {
    if (fillAttr)
      fill = fillAttr->convertToDouble();
  }
};

// A unit attribute of an attention, or of its gradient, that a generated kernel computes on GPUs
// even where the library can.
inline constexpr llvm::StringLiteral kDirectAttention = "graph.direct_attention";

// A unit attribute of an attention, or of its gradient, on a block of rows: the rank computes as
// many rows at the mirrored place of the scores in another op, so that both together have half of
// their scores to compute on every rank.
inline constexpr llvm::StringLiteral kMirrored = "graph.mirrored";

// Whether `op` is a causal attention, or the gradient of one.
bool isCausalAttention(mlir::Operation *op);

// Whether `op` is an attention, or the gradient of one, that the library of GPUs computes: it can,
// and the op is not marked as direct.
bool isLibraryAttention(mlir::Operation *op);

// The sizes of an attention or its gradient, whose shapes are static.
AttentionSizes attentionSizes(mlir::Operation *op);

// r(x) of graph.rotary: every pair (a, b) of the last dim becomes (-b, a).
mlir::Value buildRotated(mlir::OpBuilder &b, mlir::Value x, bool interleaved);

} // namespace cleave::graph
