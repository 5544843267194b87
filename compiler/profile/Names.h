// What an op is called in the file that it was read from.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace cleave::profile {

// The node that the op was made of; the op's own name where it came from none.
std::string nodeOf(mlir::Operation *op);
// The PyTorch module that the node stands in; empty where the file does not say.
std::string moduleOf(mlir::Operation *op);

} // namespace cleave::profile
