// The last stroke of every import, the same for all formats.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::frontend {

// Makes constants of parameters from which no floating-point number reaches a result (masks, say: only compared), computes
// constants that say no more than where an element stands (those of up to 16 Mi elements are looked at, in the file at `path`
// and beside it), drops gradient stops that stop nothing, erases unused ops and constants, notes what was assumed of symbols,
// and verifies. Throws a Failure (a defect) if the module does not verify.
void finishStep(mlir::ModuleOp module, const std::string &path,
                const std::vector<Polynomial> &assumptions);

} // namespace cleave::frontend
