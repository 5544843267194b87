// Passes of passes/codegen/cpu for cleave-opt.

include "passes/PassBase.td"

def CpuCodegenPass : Cleave_Pass<"cleave-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Emits kernels as loops in functions of a nested module @cpu";
  let before =
      "Every program.kernel computes a kernel group or an op that has an emitter, on tensors of "
      "static shape.";
  let after =
      "Every kernel has its extent and a function of its name in @cpu, of builtin, func, arith, "
      "math, scf and llvm ops.";
}
