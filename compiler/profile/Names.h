// Names of ops in the file that the model was read from.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace cleave::profile {

// The node that the op was imported from; the op's own name if there is none.
std::string nodeOf(mlir::Operation *op);
// The PyTorch module of that node; empty if the file does not state it.
std::string moduleOf(mlir::Operation *op);

} // namespace cleave::profile
