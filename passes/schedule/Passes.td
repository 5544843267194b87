// Passes of passes/schedule for cleave-opt.

include "passes/PassBase.td"

def BucketPass : Cleave_Pass<"cleave-schedule-bucket", "::mlir::ModuleOp"> {
  let summary = "Joins all_reduces into few large ones";
  let before = "Shapes are static.";
  let after =
      "Joined all_reduces have one kind, axes, element type and number of repetitions and do "
      "not depend on each other; results are unchanged.";
  let options = [
    Option<"bytes", "bytes", "int64_t", "kBucketBytes",
           "Most bytes of a bucket, unless one tensor is larger; 25 MiB if not given">
  ];
}

def OrderPass : Cleave_Pass<"cleave-schedule-order", "::mlir::ModuleOp"> {
  let summary = "Runs ops that free memory as soon as their operands are computed";
  let before = "None. Tensors with symbolic dims count as empty.";
  let after =
      "No op stands before the ops that it reads, or overtakes a reader of an argument that it "
      "replaces.";
}
