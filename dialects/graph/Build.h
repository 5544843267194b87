// Builders for sequences of graph ops that importers, gradients, decompositions and the optimizer
// need: constants, numpy-like broadcasts, means, statistics.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// A constant of this type with every element `value`: a scalar constant and, for a ranked type, its
// broadcast.
mlir::Value buildSplat(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
inline mlir::Value buildSplatLike(mlir::OpBuilder &b, mlir::Value like, double value) {
  return buildSplat(b, like.getLoc(), like.getType(), value);
}

// A scalar of `numerator` over `divisor` (Structure.td, sizes): a constant where both are numbers.
mlir::Value buildSize(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element,
                      const Polynomial &numerator, const Polynomial &divisor = 1);
// The same, broadcast to the type of `like`.
mlir::Value buildSizeLike(mlir::OpBuilder &b, mlir::Value like, const Polynomial &numerator,
                          const Polynomial &divisor = 1);

// `value` broadcast to `shape` by numpy's rule: dims are aligned at the end, dims of size 1 are
// repeated. The shapes must fit; this is not checked.
mlir::Value buildBroadcast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                           const Shape &shape);

// `value` repeated along the dims `reducedDims` of the shape of `like`: the inverse of a reduction
// over them.
mlir::Value buildBroadcastOver(mlir::OpBuilder &b, mlir::Value value, mlir::Value like,
                               llvm::ArrayRef<int64_t> reducedDims);

// Reduces `value` over `dims`, which are removed from the shape; the mean divides the sum by the
// number of elements.
mlir::Value buildReduce(mlir::OpBuilder &b, Reduction kind, mlir::Value value,
                        llvm::ArrayRef<int64_t> dims);
mlir::Value buildMean(mlir::OpBuilder &b, mlir::Value value, llvm::ArrayRef<int64_t> dims);

// The statistics of x over `dims`. Gradients build them again, and CSE merges the copies.
struct Normalised {
  mlir::Value mean, variance; // without the dims; the variance is the biased one
  mlir::Value centred;        // x - mean
  mlir::Value inverse;        // 1 / sqrt(variance + epsilon), without the dims
};
Normalised buildNormalised(mlir::OpBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                           double epsilon);
// 1 / sqrt(mean(x^2) + epsilon), without the dims.
mlir::Value buildInverseRms(mlir::OpBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                            double epsilon);

// The op of that name, or `value` itself where the op would change nothing.
mlir::Value buildReshape(mlir::OpBuilder &b, mlir::Value value, const Shape &shape);
mlir::Value buildTranspose(mlir::OpBuilder &b, mlir::Value value,
                           llvm::ArrayRef<int64_t> permutation);
mlir::Value buildCast(mlir::OpBuilder &b, mlir::Value value, mlir::Type element);

// Elements chosen along one dim: result[…, i, …] = value[…, indices[…, i, …], …]. All dims of both
// except `dim` are equal. The result is zero where the index is out of range.
mlir::Value buildGatherAlong(mlir::OpBuilder &b, mlir::Value value, mlir::Value indices,
                             int64_t dim);
// The reverse: element r along `dim` combines the updates whose index is r (see graph.scatter).
// `size` is the size of the result along `dim`.
mlir::Value buildScatterAlong(mlir::OpBuilder &b, Reduction kind, mlir::Value updates,
                              mlir::Value indices, int64_t dim, const Polynomial &size);

// The graph.dot_general whose result has this element type (isProductType).
mlir::Value buildDot(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, mlir::Value lhs,
                     mlir::Value rhs, llvm::ArrayRef<int64_t> lhsBatch,
                     llvm::ArrayRef<int64_t> rhsBatch, llvm::ArrayRef<int64_t> lhsContracting,
                     llvm::ArrayRef<int64_t> rhsContracting);

// lhs[…, m, k] · rhs[…, k, n] with equal leading batch dims.
mlir::Value buildMatmul(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs);

} // namespace cleave::graph
