// Passes of passes/decompose for cleave-opt.

include "passes/PassBase.td"

def CompositesPass : Cleave_Pass<"cleave-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite ops by the simpler ops that they decompose to";
  let before = "None.";
  let after = "No op with a DecompositionInterface is left, but with `keep-kernels` those that have "
              "a kernel. Equal ops are not merged.";
  let options = [
    Option<"keepKernels", "keep-kernels", "bool", "false",
           "Keep the ops for which programs have one kernel.">
  ];
}

def LongReductionsPass : Cleave_Pass<"cleave-decompose-long-reductions", "::mlir::func::FuncOp"> {
  let summary = "Reduces rows in two steps where one kernel would have few blocks of threads";
  let before = "None.";
  let after = "No reduction of rows with at least 65536 elements to fewer than 148 results has major "
              "dims besides the innermost one.";
}

def BatchMomentsPass : Cleave_Pass<"cleave-decompose-batch-moments", "::mlir::func::FuncOp"> {
  let summary = "Takes mean and variance over a batch in one pass over the data";
  let before = "Equal ops are merged.";
  let after = "No sum over dim 0 and others is of squared distances from the mean over the same "
              "dims, if these leave the dim that is innermost in memory.";
}

def SpaceToDepthPass : Cleave_Pass<"cleave-decompose-space-to-depth", "::mlir::func::FuncOp"> {
  let summary = "Gives 16-bit convolutions input channels in multiples of eight";
  let before = "None.";
  let after = "Every convolution or gradient of one on 16-bit floats, in one group, with static "
              "shapes and without graph.direct has a multiple of eight input channels.";
}

def DirectConvolutionsPass : Cleave_Pass<"cleave-decompose-direct-convolutions",
                                         "::mlir::func::FuncOp"> {
  let summary = "Marks the convolutions that a generated kernel computes";
  let before = "None.";
  let after = "Every convolution or gradient of one that cuDNN may have no engines for, with `all` "
              "every one, has the attribute graph.direct.";
  let options = [Option<"all", "all", "bool", "false", "Mark those that cuDNN takes, too.">];
}
