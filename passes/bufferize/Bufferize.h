// Bufferize: turns one rank's step on tensors into its program on buffers, and places these.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::bufferize {

// Result of buffer placement, in bytes.
struct ArenaSizes {
  int64_t arena = 0; // size of the arena
  int64_t peak = 0;  // most bytes alive at one instruction, see Placement::peak
};

// Replaces the (partitioned) step of the module by program.tensor, program.kernel and
// program.program ops. Kernels have no extent yet, buffers have lifetimes and no offsets. Ops
// become instructions in the order in which they stand. Emits an error at an op that runs once per
// micro-batch behind one that runs once per step (order the step before, passes/schedule), and at
// an op outside of kernel groups that has neither an instruction nor a kernel of its own (form
// groups before, passes/fuse).
//
// `evaluation`, a step of another module with the same mesh whose arguments are some of the step's
// in the layouts that they have there, becomes a second program, which shares kernels, tensors and
// persistent buffers with the first.
//
// `stages`, steps of other modules with the same mesh, are the stages of a pipeline whose first one
// is the step. Each becomes a program of its own ranks, with the schedule of its module; they share
// kernels and tensors.
mlir::LogicalResult lowerPrograms(mlir::ModuleOp module, mlir::func::FuncOp evaluation = {},
                                  llvm::ArrayRef<mlir::func::FuncOp> stages = {});

// Sets the offsets of the buffers and the sizes of the arenas. The second program's own buffers are
// placed around the shared ones. Returns the sizes of the step alone.
ArenaSizes placePrograms(mlir::ModuleOp module);

// Lowers and places.
mlir::FailureOr<ArenaSizes> bufferize(mlir::ModuleOp module, mlir::func::FuncOp evaluation = {});

// Registers --cleave-bufferize.
void registerBufferizePasses();

} // namespace cleave::bufferize
