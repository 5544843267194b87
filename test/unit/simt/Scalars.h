// Scalars: values of interpreted instructions, and arithmetic on them.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

#include <cstdint>

namespace cleave::test {

// The bits of a scalar or of the elements of a vector, zero-extended.
using Scalars = llvm::SmallVector<uint64_t, 1>;

// The floats of a scalar type and back, rounded to nearest.
double toDouble(const llvm::Type *type, uint64_t bits);
uint64_t fromDouble(const llvm::Type *type, double value);
// The lowest bits of an integer type, zero- and sign-extended.
uint64_t zeroExtended(uint64_t bits, unsigned width);
int64_t signExtended(uint64_t bits, unsigned width);

// One element of the result of an instruction.
uint64_t evaluateBinary(const llvm::BinaryOperator &op, uint64_t a, uint64_t b);
bool evaluateCompare(const llvm::CmpInst &op, uint64_t a, uint64_t b);
uint64_t evaluateCast(const llvm::CastInst &op, uint64_t a);
// An intrinsic function on the elements of its arguments. Throws a Fault for one that is unknown.
uint64_t evaluateIntrinsic(const llvm::CallInst &call, llvm::ArrayRef<uint64_t> arguments);

} // namespace cleave::test
