// Passes of passes/precision for cleave-opt.

include "passes/PassBase.td"

def PrecisionPass : Cleave_Pass<"cleave-precision", "::mlir::func::FuncOp"> {
  let summary = "Lets products compute in a low type, norms, sums and losses in f32";
  let before = "A forward step: the function has the attributes of dialects/graph/Step.h.";
  let after = "Arguments and results have the types that they had; casts are where types meet.";
  let dependentDialects = ["::cleave::graph::GraphDialect"];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"bf16\"", "f32, tf32, bf16, f16 or a JSON file">
  ];
}
