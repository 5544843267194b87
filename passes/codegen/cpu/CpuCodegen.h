// The CPU code generator: kernels of the program dialect in, one shared object out.
//
//   program.kernel  ->  loops (GroupEmitter, IndexingEmitter, …)  ->  LLVM  ->  object  ->
//   ld.lld -shared
//
// The functions have the signature that runtime/artifact/program.proto asks for and need nothing
// but libc's memset, memcpy and, for double precision, libm.
#pragma once

#include "dialects/program/Program.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace cleave::codegen {

struct CpuLibrary {
  std::string bytes;  // ELF shared object; empty without kernels
  std::string target; // CPU name and features that it is for
};

struct CpuOptions {
  int threads = 2;    // that compile
  bool checked = false; // kernels compare every load and store with its buffer (KernelBuilder.h)
  // A kernel that cannot be compiled is written, as text, to a new file REPRODUCER.XXXXXX.mlir; if empty, in the folder for
  // temporary files.
  std::string reproducer;
  std::string dumpTo; // if not empty: LLVM's IR of each thread's part is written to DUMPTO.PART.ll
};

// Emits the kernels as functions of `into` (builtin, func, arith, math, scf and llvm ops) and sets
// their `extent`. An op that has no emitter is an error at the kernel.
mlir::LogicalResult emitKernels(llvm::ArrayRef<program::KernelOp> kernels, mlir::ModuleOp into,
                                bool checked = false);

// The same down to machine code for this machine's CPU. What goes wrong inside, also by a signal, is a defect that names the
// kernel and the file with its text.
Result<CpuLibrary> compileKernels(llvm::ArrayRef<program::KernelOp> kernels,
                                  const CpuOptions &options = {});

// --cleave-codegen-cpu: the kernels as functions in a nested module @cpu.
std::unique_ptr<mlir::Pass> createCpuCodegenPass();
void registerCpuCodegenPasses();

} // namespace cleave::codegen
