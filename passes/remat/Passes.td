// Passes of passes/remat for cleave-opt.

include "passes/PassBase.td"

def RealisePass : Cleave_Pass<"cleave-remat-realise", "::mlir::ModuleOp"> {
  let summary = "Recomputes ops of the forward part for the backward part";
  let before = "An op of the forward part whose results are recomputed has graph.remat = \"recompute\"; "
      "\"from_kept\" if these are computed from other results of the group, which are kept.";
  let after =
      "Ops outside of the forward part read the results of a clone of the op, which has graph.recomputed "
      "and stands before its first reader. No op has graph.remat; the step computes what it computed.";
}
