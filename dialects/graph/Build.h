// Building graph ops the way a formula reads: constants like a value, broadcasts as numpy does
// them, means. For importers, gradients, decompositions and the optimizer.
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

// `value` broadcast to `shape` by numpy's rule: dims aligned at the end, size 1 repeated.
// The caller has made sure that it fits.
mlir::Value buildBroadcast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                           const Shape &shape);

// `value` repeated along the dims that `dims` leaves out of `like`'s shape (the inverse of a
// reduction over them).
mlir::Value buildBroadcastOver(mlir::OpBuilder &b, mlir::Value value, mlir::Value like,
                               llvm::ArrayRef<int64_t> reducedDims);

// Reductions; mean divides by the number of elements.
mlir::Value buildReduce(mlir::OpBuilder &b, Reduction kind, mlir::Value value,
                        llvm::ArrayRef<int64_t> dims);
mlir::Value buildMean(mlir::OpBuilder &b, mlir::Value value, llvm::ArrayRef<int64_t> dims);

// The statistics of x over `dims`; gradients build them again and CSE merges them.
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

mlir::Value buildReshape(mlir::OpBuilder &b, mlir::Value value, const Shape &shape);
mlir::Value buildTranspose(mlir::OpBuilder &b, mlir::Value value,
                           llvm::ArrayRef<int64_t> permutation);
mlir::Value buildCast(mlir::OpBuilder &b, mlir::Value value, mlir::Type element);

// Elements chosen along one dim: result[…, i, …] = value[…, indices[…, i, …], …], where the dims but `dim` of
// both are equal; zero where the index is out of range.
mlir::Value buildGatherAlong(mlir::OpBuilder &b, mlir::Value value, mlir::Value indices,
                             int64_t dim);
// The same the other way round: element r along `dim`, of `size`, combines the updates whose index is r (see
// graph.scatter).
mlir::Value buildScatterAlong(mlir::OpBuilder &b, Reduction kind, mlir::Value updates,
                              mlir::Value indices, int64_t dim, const Polynomial &size);

// lhs[…, m, k] · rhs[…, k, n] with equal leading batch dims.
mlir::Value buildMatmul(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs);

} // namespace cleave::graph
