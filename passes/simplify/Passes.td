// Passes of passes/simplify for cleave-opt.

include "passes/PassBase.td"

def SimplifyPass : Cleave_Pass<"cleave-simplify", "::mlir::func::FuncOp"> {
  let summary = "Folds constants, removes needless ops and recognises composites";
  let before = "None.";
  let after =
      "No pattern applies any more, equal ops are merged. Results differ from those before by "
      "rounding at most.";
}
