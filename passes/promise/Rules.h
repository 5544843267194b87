// Rules that several phases share.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"

namespace cleave::promise {

// An error that names the broken rule. The caller appends what was found and what was expected.
mlir::InFlightDiagnostic broken(mlir::Location location, llvm::StringRef phase,
                                llvm::StringRef rule);
mlir::InFlightDiagnostic broken(mlir::Operation *op, llvm::StringRef phase, llvm::StringRef rule);

// Whether the step's arguments and results are whole tensors or have layouts.
enum class Tensors { Whole, Sharded };

// The rules S1 to S10 of Signature.cpp.
mlir::LogicalResult checkSignature(mlir::ModuleOp module, llvm::StringRef phase,
                                   Tensors tensors = Tensors::Whole);

// `rule`: `source`, the origin of the first value of `what`, has a form of dialects/graph/Step.h or
// RandomOrigin.h, and the module names the model file that it is in.
mlir::LogicalResult checkSource(mlir::Operation *at, llvm::StringRef phase, llvm::StringRef rule,
                                const llvm::Twine &what, mlir::Attribute source);

// `rule`: the step has no borders of f32 regions.
mlir::LogicalResult checkNoF32Borders(mlir::func::FuncOp step, llvm::StringRef phase,
                                      llvm::StringRef rule);
// `rule`: the step and its kernel groups hold no graph.stop_gradient.
mlir::LogicalResult checkNoGradientStops(mlir::func::FuncOp step, llvm::StringRef phase,
                                         llvm::StringRef rule);

// `rule`: outside kernel groups there is no pointwise op, reduction, broadcast or iota, except
// constants with all elements equal.
mlir::LogicalResult checkNothingLoose(mlir::func::FuncOp step, llvm::StringRef phase,
                                      llvm::StringRef rule);

// `rule`: kernel groups obey the rules G1 to G5 of passes/fuse/Groups.h. G6 holds of every group in
// a module that verifies: a cycle would break dominance, and a group runs as a whole.
mlir::LogicalResult checkGroups(mlir::func::FuncOp step, llvm::StringRef phase,
                                llvm::StringRef rule);

// Whether a rank runs both programs.
bool shareRank(program::ProgramOp a, program::ProgramOp b);

} // namespace cleave::promise
