// MachineCode: compiles emitted kernels to machine code.
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace cleave::codegen {

// Name and features of this machine's CPU in LLVM's terms: "znver4 +avx512f,…".
std::string hostTarget();

// Lowers a module of emitKernels to the llvm dialect.
Status lowerToLlvm(mlir::ModuleOp module);

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

// Optimises for the kernels' speed (Full), or for the time of compilation (Fast), as for checked
// kernels.
enum class Effort { Full, Fast };

// Optimises for this machine and returns an ELF object. May run in several threads. Writes the
// optimised IR to the file `dumpTo` unless that is empty.
Result<std::string> compileObject(LlvmModule module, Effort effort, const std::string &dumpTo = "");

// Links objects into one shared object by ld.lld.
Result<std::string> linkShared(const std::vector<std::string> &objects);

} // namespace cleave::codegen
