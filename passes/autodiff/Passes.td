// Passes of passes/autodiff for cleave-opt.

include "passes/PassBase.td"

def GradientsPass : Cleave_Pass<"cleave-autodiff-gradients", "::mlir::func::FuncOp"> {
  let summary = "Makes a function return the gradients of its first result by its float arguments";
  let before =
      "The first result is a float scalar; every op between it and the float arguments has a "
      "gradient rule.";
  let after =
      "The function returns the gradients in the order of the arguments, without those of "
      "arguments on which the result does not depend.";
}
