// What all elementwise ops share; used by the definitions that GraphOps.td generates.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

FactorRule pointwiseRule(mlir::Operation *op);
Polynomial pointwiseFlops(mlir::Operation *op);
llvm::SmallVector<Tensor> evaluatePointwise(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

// Scalar values: floats, or integers.
bool isFloat(mlir::Value scalar);
// To `to`: floats to integers towards zero, to i1 as "not zero"; i1 counts 0 or 1.
mlir::Value buildCast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type to);
mlir::Value buildCompare(mlir::OpBuilder &b, mlir::Location loc, Predicate predicate, mlir::Value lhs,
                         mlir::Value rhs);
bool compareScalars(Predicate predicate, double lhs, double rhs);
// NaN if an operand is NaN, as MLIR's maximumf and minimumf.
double maximum(double a, double b);
double minimum(double a, double b);

} // namespace cleave::graph
