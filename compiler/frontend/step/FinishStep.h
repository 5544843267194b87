// Final clean-up and verification of an imported step.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::frontend {

// Cleans up and verifies the step of a module:
// * parameters become constants if no floating-point number computed from them reaches a result
//   (masks that are only compared, say);
// * constants of up to 16 Mi elements, read from the file at `path` and files beside it, become ops
//   if their elements are a function of their positions;
// * states that the step only reads become constants;
// * gradient stops without an effect, unused ops and unused constants are removed;
// * `assumptions` about symbols are written into the module, and the file as its source
//   (dialects/graph/Provenance.h), without a hash.
// Throws a Failure (a defect) if the module does not verify.
void finishStep(mlir::ModuleOp module, const std::string &path,
                const std::vector<Polynomial> &assumptions);

} // namespace cleave::frontend
