// GpuCodegen: compiles kernels of the program dialect to PTX for NVIDIA's GPUs.
//
//   program.kernel  ->  code of one thread (GpuGroupEmitter, SingleEmitter)  ->  LLVM with NVVM's
//   intrinsics  ->  PTX
//
// Neither a GPU nor the CUDA toolkit is needed. A kernel is `.entry symbol(buffer0, buffer1, …)`,
// with several instances `.entry symbol(addresses)` (Instances.h); its launch stands beside the
// module as plain data.
#pragma once

#include "dialects/program/Program.h"
#include "passes/codegen/gpu/GpuNest.h"
#include "passes/codegen/nest/LlvmModule.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::codegen {

// A kernel of a module.
struct GpuFunction {
  std::string symbol; // artifact::entryOf
  Launch launch;
};

// Compiled kernels.
struct GpuModule {
  std::string target; // "sm_90"
  std::string ptx;
  std::vector<GpuFunction> functions;
};

// Kernels as optimised LLVM IR, from which PTX is made; each function is one thread.
struct GpuIr {
  LlvmModule llvm;
  std::vector<GpuFunction> functions;
};

// Emits the kernels as functions of `into` (builtin, func, arith, math, scf and llvm ops) and sets
// their `grid`. Returns one entry per kernel, with its name in the program dialect. An op that has
// no emitter is an error at the kernel.
mlir::FailureOr<std::vector<GpuFunction>> emitGpuKernels(llvm::ArrayRef<program::KernelOp> kernels,
                                                         mlir::ModuleOp into);

// Lowers and optimises the kernels for one of gpuTargets().
Result<GpuIr> lowerForGpu(llvm::ArrayRef<program::KernelOp> kernels, const std::string &target);

// Compiles the kernels for one of gpuTargets().
Result<GpuModule> compileForGpu(llvm::ArrayRef<program::KernelOp> kernels,
                                const std::string &target);

// Registers --cleave-codegen-gpu.
void registerGpuCodegenPasses();

} // namespace cleave::codegen
