// Identity: ops compared by what they compute, so that equal layers of a model are looked at once.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace cleave::analysis {

// Equal for lists of ops that compute the same: with the same names, attributes, result types and
// regions one by one, and operands that are the same results of these ops, or recur in the same
// places. Consists of addresses that one MLIRContext gives to equal names, attributes and types.
std::string identityOf(llvm::ArrayRef<mlir::Operation *> ops);

// The same for one op, whichever values it reads: only the types of its operands count.
std::string identityOf(mlir::Operation *op);

} // namespace cleave::analysis
