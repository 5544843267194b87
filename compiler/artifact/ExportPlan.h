// ExportPlan: converts the program dialect to the message of a plan file.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::artifact {

// The tensors, program, kernels and mesh of a bufferized module, for devices of a kind (kCpu,
// kCuda of Modules.h). `modules` hold the compiled kernels; all ranks run the one program. `trains`
// is set if the step reports a loss. The caller adds source model, prediction, decisions and
// command line. A defect if the module has no program or a kernel was not compiled.
Result<plan::Plan> exportPlan(mlir::ModuleOp module, const std::string &device,
                              std::vector<plan::Module> modules);

// Exports a module from the phase `scheduled` on without sizes of arenas and compiled kernels, in
// order to predict the seconds of its instructions. Offsets of buffers have no meaning.
Result<plan::Plan> exportOutline(mlir::ModuleOp module);

} // namespace cleave::artifact
