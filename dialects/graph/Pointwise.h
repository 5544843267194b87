// Functions that the generated definitions of the elementwise ops call: their factor rule, FLOPs
// and evaluation, and arithmetic on single elements, both on doubles and as arith and math ops.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// The rule in which dim d of every operand and result is factor d; the op's FLOPs, and its results
// on whole tensors, from PointwiseInterface.
FactorRule pointwiseRule(mlir::Operation *op);
Polynomial pointwiseFlops(mlir::Operation *op);
llvm::SmallVector<Tensor> evaluatePointwise(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

// Whether a scalar is a float. Scalar integers are signless; the type of the tensor that they
// belong to tells whether they are unsigned.
bool isFloat(mlir::Value scalar);
// Whether a tensor or element type is unsigned. Truth values are.
bool isUnsigned(mlir::Type type);
// The type of scalars in computations with this element type: integers become signless.
mlir::Type scalarType(mlir::Type element);
// Converts a scalar between element types: floats to integers by truncation towards zero, numbers
// to i1 as "not zero", i1 to 0 or 1.
mlir::Value buildCast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type from,
                      mlir::Type to);
// Ordered comparison; false if an operand is NaN, except for NE.
mlir::Value buildCompare(mlir::OpBuilder &b, mlir::Location loc, Predicate predicate,
                         mlir::Value lhs, mlir::Value rhs, bool isUnsigned);
bool compareScalars(Predicate predicate, double lhs, double rhs);
// Quotient and remainder, truncated towards zero for integers. Integer division by 0 gives 0 and
// does not trap.
mlir::Value buildDivision(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                          bool isUnsigned, bool remainder);
double divide(mlir::Type type, double lhs, double rhs);
double remainder(mlir::Type type, double lhs, double rhs);

// Conversion of integers between doubles and two's complement bits of the tensor's element type.
uint64_t toBits(double value);
double fromBits(uint64_t bits, mlir::Type type);
// The bits of an integer of this element type that a Tensor holds as a double. 2^63 stands for the
// largest signed integer, which a double cannot represent.
uint64_t integerBits(mlir::Type element, double value);
// Shifts by `places` bits; 0 (or the sign, to the right) if shifted by the width or more.
double shiftLeft(mlir::Type type, double value, double places);
double shiftRight(double value, double places);
mlir::Value buildShift(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                       mlir::Value places, bool isUnsigned, bool left);

// A random number in [0, 1) with 24 bits: a hash of two integers, which must be exact in a double.
double randomNumber(double counter, double key);
mlir::Value buildRandomNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value counter,
                              mlir::Value key);
// The combination of two elements in a reduction, and its neutral element (infinite for maximum and
// minimum; rounded to an integer type it is the least or largest number).
double combine(Reduction kind, double a, double b);
double identityOf(Reduction kind);
// NaN if an operand is NaN, like arith.maximumf and arith.minimumf.
double maximum(double a, double b);
double minimum(double a, double b);

} // namespace cleave::graph
