// ExportPlan: the program dialect as the plan file's message.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::artifact {

// The tensors, program and kernels of a module that was bufferized, whose kernels have been compiled to `library` for
// `target`, and its mesh; all ranks run the one program. What the module does not know (source model, prediction,
// decisions, command line) is for the caller to fill in; `trains` is set if the step reports a loss. A defect if the
// module holds no program, or a kernel without extent.
Result<plan::Plan> exportPlan(mlir::ModuleOp module, const std::string &library,
                              const std::string &target);

} // namespace cleave::artifact
