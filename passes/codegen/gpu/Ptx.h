// Ptx: compiles LLVM IR with NVVM's intrinsics to PTX, the assembly language of NVIDIA's GPUs.
#pragma once

#include "passes/codegen/nest/LlvmModule.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace llvm {
class Function;
}

namespace cleave::codegen {

// A GPU as LLVM and ptxas name it.
struct GpuTarget {
  std::string name;    // "sm_90"
  std::string version; // of PTX, as a feature of LLVM: "+ptx78"
};

// The targets that kernels are compiled for, the oldest first.
const std::vector<GpuTarget> &gpuTargets();
// The target of this name. An unknown one is an error of the user.
Result<GpuTarget> gpuTargetOf(const std::string &name);
// The newest target whose code runs on GPUs of a compute capability, `sm_86`. An error of the user
// if there is none.
Result<GpuTarget> gpuTargetFor(const std::string &capability);

// Marks the pointer parameters of the function as buffers, which do not overlap and are aligned,
// except those that are passed by value.
void markBuffers(llvm::Function &function);
// Marks the function as a kernel that is launched with blocks of this many threads and whose
// pointers do not overlap. `resident`: the minimum of blocks per multiprocessor, which limits
// registers; 0: none.
void markKernel(llvm::Module &module, const std::string &function, int threads, int resident);
// Optimises the module for the target.
Status optimiseForGpu(llvm::Module &module, const GpuTarget &target);
// Compiles an optimised module. A function that is declared but not defined is an error: no library
// of device functions is linked. Changes the module.
Result<std::string> emitPtx(llvm::Module &module, const GpuTarget &target);

} // namespace cleave::codegen
