// The last stroke of every import, the same for all formats.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cleave::frontend {

// Makes constants of parameters from which no floating-point number reaches a result (masks, say:
// only compared), drops gradient stops that stop nothing, erases unused ops and constants, and verifies. Throws a Failure (a defect) if the
// module does not verify.
void finishStep(mlir::ModuleOp module);

} // namespace cleave::frontend
