// Bufferize: turns one rank's step on tensors into its program on buffers, and places these.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <vector>

namespace cleave::bufferize {

// Result of buffer placement, in bytes.
struct ArenaSizes {
  int64_t arena = 0; // size of the arena in device memory
  int64_t peak = 0;  // most bytes of it alive at one instruction, see Placement::peak
  int64_t host = 0;  // size of the arena in host memory
  int64_t file = 0;  // and of that in a file
};

// Replaces the (partitioned) step of the module by program.tensor, program.kernel and
// program.program ops. Kernels have no extent yet, buffers have lifetimes and no offsets. Ops
// become instructions in the order in which they stand. Emits an error at an op that runs once per
// micro-batch behind one that runs once per step (order the step before, passes/schedule), and at
// an op outside of kernel groups that has neither an instruction nor a kernel of its own (form
// groups before, passes/fuse).
//
// `stages`, steps of other modules with the same mesh, are the further stages of a pipeline whose
// first one is the step. Each becomes a program of its own ranks, with the schedule of its module;
// they share kernels and tensors.
//
// `evaluations` is empty, or has one step of another module for each of these programs, with the
// same mesh. Its arguments are some of the program's in the layouts that they have there, messages
// aside. It becomes another program of the same ranks, which shares kernels, tensors and persistent
// buffers with the first.
mlir::LogicalResult lowerPrograms(mlir::ModuleOp module,
                                  llvm::ArrayRef<mlir::func::FuncOp> stages = {},
                                  llvm::ArrayRef<mlir::func::FuncOp> evaluations = {});

// Sets the offsets of the buffers and the sizes of the arenas. The own buffers of an evaluation are
// placed around those that it shares. Returns the sizes of the steps alone, in order. `room`:
// of the arenas of device memory, as for placeBuffers().
std::vector<ArenaSizes> placePrograms(mlir::ModuleOp module, std::optional<int64_t> room = {});

// Lowers and places.
mlir::FailureOr<ArenaSizes> bufferize(mlir::ModuleOp module, std::optional<int64_t> room = {});

// Registers --cleave-bufferize.
void registerBufferizePasses();

} // namespace cleave::bufferize
