// Promise: what each phase of a compilation promises about the module that it leaves.
//
// The rules are numbered per phase and listed at the top of the phase's file (Import.cpp, …). They
// state what later phases rely on. The rules of the phase `artifact` are in
// runtime/artifact/Verify.h.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace cleave::promise {

// Each function expects a module that its ops' own verifiers accept. It returns failure after one
// error that begins with the phase and the broken rule, such as `train P2: …`. The time is linear
// in the size of the module, but for one sort of the buffers in checkProgram().
mlir::LogicalResult checkImport(mlir::ModuleOp module);
// `trains`: the step is going to be differentiated, so that it may hold gradient stops.
mlir::LogicalResult checkForward(mlir::ModuleOp module, bool trains);
// For a training step only; of an inference step the phase `train` promises what `forward` does.
mlir::LogicalResult checkTrain(mlir::ModuleOp module);
mlir::LogicalResult checkPrimitive(mlir::ModuleOp module);
mlir::LogicalResult checkPlanned(mlir::ModuleOp module);
mlir::LogicalResult checkPartitioned(mlir::ModuleOp module);
// Checks the partitioned steps of all stages of a pipeline, in order, against each other.
mlir::LogicalResult checkMessages(llvm::ArrayRef<mlir::func::FuncOp> stages);
mlir::LogicalResult checkScheduled(mlir::ModuleOp module);
mlir::LogicalResult checkProgram(mlir::ModuleOp module);

// Registers --cleave-promise-check.
void registerPromisePasses();

} // namespace cleave::promise
