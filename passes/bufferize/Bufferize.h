// Bufferize: one rank's step on tensors becomes its program on buffers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave::bufferize {

// What the placement of buffers came to, in bytes.
struct MemoryReport {
  int64_t arena = 0; // allocated
  int64_t peak = 0;  // most bytes alive at one time
};

// Replaces the (partitioned) step of the module by program.tensor, program.kernel and program.program ops. Kernels
// have no extent yet. Every op outside kernel groups must be one that has an instruction or a kernel of its own; an error is
// emitted at one that has none.
mlir::FailureOr<MemoryReport> bufferize(mlir::ModuleOp module);

// --cleave-bufferize
std::unique_ptr<mlir::Pass> createBufferizePass();
void registerBufferizePasses();

} // namespace cleave::bufferize
