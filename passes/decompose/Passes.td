// Passes of passes/decompose for cleave-opt.

include "passes/PassBase.td"

def CompositesPass : Cleave_Pass<"cleave-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite ops by the simpler ops that they decompose to";
  let before = "None.";
  let after = "No op with a DecompositionInterface is left. Equal ops are not merged.";
}
