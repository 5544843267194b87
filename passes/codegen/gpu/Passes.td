// Passes of passes/codegen/gpu for cleave-opt.

include "passes/PassBase.td"

def GpuCodegenPass : Cleave_Pass<"cleave-codegen-gpu", "::mlir::ModuleOp"> {
  let summary = "Emits kernels as the code of one GPU thread in functions of a nested module @gpu";
  let before =
      "Every program.kernel computes a kernel group or an op that has an emitter, on tensors of "
      "static shape.";
  let after =
      "Every kernel has a function of its name in @gpu, of builtin, func, arith, math, scf and "
      "llvm ops with NVVM's intrinsics, whose attribute `launch` has the blocks, the threads of a "
      "block and its bytes of shared memory.";
}
