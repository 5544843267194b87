// Passes of passes/fuse for cleave-opt.

include "passes/PassBase.td"

def GroupsPass : Cleave_Pass<"cleave-fuse-groups", "::mlir::func::FuncOp"> {
  let summary = "Forms kernel groups of primitive ops";
  let before = "No composite op is left.";
  let after =
      "Every pointwise op, reduction, broadcast and iota is in a group, except constants with "
      "all elements equal; groups obey the rules of passes/fuse/Groups.h; ops are sorted "
      "topologically.";
}
