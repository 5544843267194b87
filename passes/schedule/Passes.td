// Passes of passes/schedule for cleave-opt.

include "passes/PassBase.td"

def BucketPass : Cleave_Pass<"cleave-schedule-bucket", "::mlir::ModuleOp"> {
  let summary = "Joins the all_reduces of each bucket of the plan";
  let before =
      "All_reduces with the same mesh.bucket have one kind, axes and element type and do not depend "
      "on each other.";
  let after = "They are one op; results are unchanged. No op has mesh.bucket.";
}

def OrderPass : Cleave_Pass<"cleave-schedule-order", "::mlir::ModuleOp"> {
  let summary = "Runs ops that free memory as soon as their operands are computed";
  let before = "None. Tensors with symbolic dims count as empty.";
  let after =
      "Ops that run once per step stand behind those that run once per micro-batch. No op stands "
      "before the ops that it reads, or overtakes a reader of an argument that it replaces.";
}

def QueuesPass : Cleave_Pass<"cleave-schedule-queues", "::mlir::ModuleOp"> {
  let summary = "Puts the instructions of a program for GPUs into queues, with waits between them";
  let before = "The buffers of the program are placed.";
  let after =
      "Of any two runs of instructions that access common bytes, one of them to write, the earlier "
      "one is complete before the later one starts, also over segments and micro-batches. Without "
      "`program.device`, nothing changes.";
}
