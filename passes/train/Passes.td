// Passes of passes/train for cleave-opt.

include "passes/PassBase.td"

def StepPass : Cleave_Pass<"cleave-train-step", "::mlir::ModuleOp"> {
  let summary = "Makes a training step of a forward step: loss, gradients, clipping, optimizer";
  let before =
      "The module keeps the promise of the phase `forward`; every op between the trained "
      "parameters and the losses has a gradient rule.";
  let after = "The module keeps the promise of the phase `train`.";
  let dependentDialects = ["::cleave::graph::GraphDialect"];
  let options = [
    Option<"loss", "loss", "std::string", "",
           "KIND:OUTPUT[,LABEL], several joined by +">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"",
           "NAME[:KEY=VALUE,…]">,
    Option<"groups", "optimizer-group", "std::string", "",
           "GLOB:KEY=VALUE,… or no-decay, several joined by +">,
    Option<"ema", "ema", "double", "-1",
           "Decay of the moving averages of parameters; negative: no averages">,
    ListOption<"trainable", "trainable", "std::string", "Patterns of parameters to train">,
    ListOption<"freeze", "freeze", "std::string", "Patterns of parameters not to train">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "Largest norm of the gradients; 0: no clipping">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Micro-batches per step">,
    Option<"dtype", "dtype", "std::string", "\"f32\"", "f32, tf32, bf16, f16 or a JSON file">,
    Option<"freezeNorms", "freeze-batch-norm", "bool", "false",
           "Normalise by running statistics">
  ];
}
