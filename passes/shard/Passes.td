// Passes of passes/shard for cleave-opt.

include "passes/PassBase.td"

def PlanPass : Cleave_Pass<"cleave-shard-plan", "::mlir::ModuleOp"> {
  let summary = "Plans @step and annotates it with the plan";
  let before = "The module keeps the promise of the phase `primitive`; shapes are static.";
  let after = "The module keeps the promise of the phase `planned`.";
  let dependentDialects = ["::cleave::mesh::MeshDialect"];
  let options = [
    Option<"cluster", "cluster", "std::string", "\"h100-node\"",
           "Name or file of the cluster">,
    Option<"ranks", "ranks", "int64_t", "1",
           "Number of ranks, if no mesh is given">,
    Option<"mesh", "mesh", "std::string", "",
           "AXIS=N,..., for example dp=2,tp=2; empty: the planner chooses">,
    Option<"memory", "memory", "int64_t", "0",
           "Bytes of one rank; 0: those of the cluster">,
    Option<"pin", "pin", "std::string", "",
           "Recipe or file of pins">
  ];
}

def PartitionPass : Cleave_Pass<"cleave-shard-partition", "::mlir::ModuleOp"> {
  let summary = "Turns an annotated @step into the step of one rank";
  let before =
      "The module has a mesh.mesh; an op or argument without an annotation is not split. Shapes "
      "are static.";
  let after =
      "Shapes are those of one rank's blocks, and collectives join them. Ops that mask padding "
      "may stand outside of kernel groups.";
  let dependentDialects = ["::cleave::mesh::MeshDialect"];
  let options = [
    Option<"cluster", "cluster", "std::string", "\"h100-node\"",
           "Name or file of the cluster, which decides between ways to change a layout">
  ];
}
