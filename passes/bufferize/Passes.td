// Passes of passes/bufferize for cleave-opt.

include "passes/PassBase.td"

def BufferizePass : Cleave_Pass<"cleave-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turns the step of one rank into its program on buffers";
  let before =
      "The module keeps the promise of the phase `partitioned`; in a step that was not "
      "partitioned, arguments and results are whole tensors. Ops that run once per step stand "
      "behind those that run once per micro-batch.";
  let after =
      "The module holds program.tensor, program.kernel and program.program ops in place of "
      "@step, as the phase `program` promises. Instructions have the order of the ops.";
  let dependentDialects = ["::cleave::program::ProgramDialect"];
}
