// Rounding: facts of ops that decide which values may be rounded to a low type (passes/precision).
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::graph {

// The operands that a product (MatrixProduct) multiplies: those of an attention are query, key and
// value, those of a grouped product the first two, those of other products all.
mlir::OperandRange factorsOf(mlir::Operation *op);

// Whether the op reads an angle: an error of its result is as large as the absolute error of the
// operand, however large that is.
bool isAngleFunction(mlir::Operation *op);

// Whether the elements of the result lie between -2 and 2, whatever the operands are.
bool hasBoundedResult(mlir::Operation *op);

} // namespace cleave::graph
