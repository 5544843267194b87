// From emitted kernels to machine code.
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

// Name and features of this machine's CPU, as LLVM calls them: "znver4 +avx512f,…".
std::string hostTarget();

// Lowers a module of emitKernels to the llvm dialect.
Status lowerToLlvm(mlir::ModuleOp module);

// A module of LLVM's own IR, in a context of its own: several can be compiled at the same time.
struct LlvmModule {
  LlvmModule();
  ~LlvmModule();
  LlvmModule(LlvmModule &&);
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// Translates a module of lowerToLlvm.
Result<LlvmModule> translate(mlir::ModuleOp module);

// What the time of compilation is worth: fast kernels, or (of checked kernels, which cannot be fast) fast compilation.
enum class Effort { Full, Fast };

// Optimises for this machine and returns an ELF object. May run in several threads. The optimised IR is written to the
// file `dumpTo`, unless that is empty.
Result<std::string> compileObject(LlvmModule module, Effort effort, const std::string &dumpTo = "");

// Links objects into one shared object by ld.lld.
Result<std::string> linkShared(const std::vector<std::string> &objects);

} // namespace cleave::codegen
