// ExportPlan: converts the program dialect to the message of a plan file.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::artifact {

// The tensors, program, kernels and mesh of a bufferized module. `library` holds the compiled
// kernels for `target`; all ranks run the one program. `trains` is set if the step reports a loss.
// The caller adds source model, prediction, decisions and command line. A defect if the module has
// no program or a kernel was not compiled.
Result<plan::Plan> exportPlan(mlir::ModuleOp module, const std::string &library,
                              const std::string &target);

} // namespace cleave::artifact
