// Passes of passes/promise for cleave-opt.

include "passes/PassBase.td"

def CheckPass : Cleave_Pass<"cleave-promise-check", "::mlir::ModuleOp"> {
  let summary = "Checks the promise of a phase";
  let before = "The ops' own verifiers accept the module.";
  let after = "The module is unchanged and obeys all rules of the phase.";
  let options = [
    Option<"phase", "phase", "std::string", "",
           "Phase that left the module; of `forward`, of an inference step">
  ];
}
