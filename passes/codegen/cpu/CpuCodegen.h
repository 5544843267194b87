// CpuCodegen: compiles kernels of the program dialect into one shared object for the CPU.
//
//   program.kernel  ->  loops (GroupEmitter, IndexingEmitter, …)  ->  LLVM  ->  object  ->
//   ld.lld -shared
//
// The functions have the signature that runtime/artifact/program.proto states and call libc's
// memset and memcpy and, for double precision, libm.
#pragma once

#include "dialects/program/Program.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace cleave::codegen {

// Compiled kernels.
struct CpuLibrary {
  std::string bytes;  // ELF shared object; empty without kernels. Functions have the symbols of
                      // artifact::exportKernel
  std::string target; // name and features of the CPU that it is compiled for
};

// How kernels are compiled.
struct CpuOptions {
  int threads = 2;      // number of threads that compile
  bool checked = false; // kernels compare every load and store with its buffer (KernelBuilder.h)
  // The text of a kernel that cannot be compiled is written to a new file REPRODUCER.XXXXXX.mlir;
  // if empty, to the folder for temporary files.
  std::string reproducer;
  std::string dumpTo; // if not empty: LLVM's IR of each thread's part is written to DUMPTO.PART.ll
};

// Emits the kernels as functions of `into` (builtin, func, arith, math, scf and llvm ops) and sets
// their `extent`. An op that has no emitter is an error at the kernel.
mlir::LogicalResult emitKernels(llvm::ArrayRef<program::KernelOp> kernels, mlir::ModuleOp into,
                                bool checked = false);

// Compiles the kernels to machine code for this machine's CPU; small ones are optimised little. A
// failure, also by a signal, is a defect that names the kernel and the file with its text.
Result<CpuLibrary> compileKernels(llvm::ArrayRef<program::KernelOp> kernels,
                                  const CpuOptions &options = {});

// Registers --cleave-codegen-cpu.
void registerCpuCodegenPasses();

} // namespace cleave::codegen
