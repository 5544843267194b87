// What all elementwise ops share; used by the definitions that GraphOps.td generates.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

FactorRule pointwiseRule(mlir::Operation *op);
Polynomial pointwiseFlops(mlir::Operation *op);
llvm::SmallVector<Tensor> evaluatePointwise(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

// Scalar values are floats or integers without a sign of their own: whether they are unsigned is known
// from the tensors' types. Truth values count as unsigned.
bool isFloat(mlir::Value scalar);
// Of a tensor or an element.
bool isUnsigned(mlir::Type type);
// The type in which a scalar of this element type is computed with: integers lose their sign.
mlir::Type scalarType(mlir::Type element);
// From element type to element type: floats to integers towards zero, to i1 as "not zero"; i1 counts 0 or 1.
mlir::Value buildCast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type from,
                      mlir::Type to);
mlir::Value buildCompare(mlir::OpBuilder &b, mlir::Location loc, Predicate predicate,
                         mlir::Value lhs, mlir::Value rhs, bool isUnsigned);
bool compareScalars(Predicate predicate, double lhs, double rhs);
// Integers never trap: over 0 both are 0.
mlir::Value buildDivision(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                          bool isUnsigned, bool remainder);
double divide(mlir::Type type, double lhs, double rhs);
double remainder(mlir::Type type, double lhs, double rhs);

// Integers as bits, and back as a number of the tensor's element type.
uint64_t toBits(double value);
double fromBits(uint64_t bits, mlir::Type type);
// The bits of an integer of this element type that a plain tensor holds as a double. 2^63 stands for the largest signed one,
// which no double is.
uint64_t integerBits(mlir::Type element, double value);
double shiftLeft(mlir::Type type, double value, double places);
double shiftRight(double value, double places);
mlir::Value buildShift(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                       mlir::Value places, bool isUnsigned, bool left);

// 24 random bits as a number in [0, 1): a hash of two integers, which must be exact in a double.
double randomNumber(double counter, double key);
mlir::Value buildRandomNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value counter,
                              mlir::Value key);
// How a reduction combines two elements, and what it begins with (infinite for an extreme: rounded to
// the element type it is the least or largest number).
double combine(Reduction kind, double a, double b);
double identityOf(Reduction kind);
// NaN if an operand is NaN, as MLIR's maximumf and minimumf.
double maximum(double a, double b);
double minimum(double a, double b);

} // namespace cleave::graph
