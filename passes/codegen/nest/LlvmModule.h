// LlvmModule: from emitted kernels to LLVM IR, optimised for a target.
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Passes/OptimizationLevel.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace cleave::codegen {

// The dialects that kernels are lowered through; loadDialects also registers their translation.
void insertDialects(mlir::DialectRegistry &registry);
void loadDialects(mlir::MLIRContext *context);

// The attribute of an scf.for whose value, an LLVM::LoopAnnotationAttr, LLVM finds at the loop.
inline constexpr llvm::StringLiteral kLoopAnnotation = "llvm.loop_annotation";

// What a target does with ops that LLVM has no good code for.
struct Lowering {
  // Calls libm for the functions that have no approximation by polynomials.
  bool usesLibm = false;
  // Casts between bfloat16 and f32 by integer ops.
  bool expandsBfloat = false;
};

// Lowers a module of emitted kernels to the llvm dialect.
Status lowerToLlvm(mlir::ModuleOp module, const Lowering &lowering);

// A module of LLVM IR in a context of its own, so that several can be compiled concurrently.
struct LlvmModule {
  LlvmModule();
  ~LlvmModule();
  LlvmModule(LlvmModule &&);
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// Translates a module of lowerToLlvm.
Result<LlvmModule> translate(mlir::ModuleOp module);

// Runs LLVM's optimiser.
void optimise(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level);

// LLVM IR as text.
std::string textOf(const llvm::Module &module);

} // namespace cleave::codegen
