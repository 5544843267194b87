// --dump-phases writes the IR after each phase that runs, the planner's networks and decisions, and
// the kernels.
// DEFINE: %{compile} = cleave-compile --cluster h100-node --ranks 2 --mesh dp=2
// RUN: rm -rf %t.all && %{compile} %s --start-from import --dump-phases %t.all/sub -o %t.plan
// RUN: ls %t.all/sub | FileCheck %s --check-prefix=ALL
// ALL-NOT: 0-import.mlir
// ALL: {{^}}1-forward.mlir
// ALL-NEXT: {{^}}2-train.mlir
// ALL-NEXT: {{^}}3-primitive.mlir
// ALL-NEXT: {{^}}4-planned.mlir
// ALL-NEXT: {{^}}5-partitioned.mlir
// ALL-NEXT: {{^}}6-scheduled.mlir
// ALL-NEXT: {{^}}7-program.mlir
// ALL-NEXT: {{^}}8-artifact.mlir
// ALL-NEXT: {{^}}kernels.ptx
// ALL: {{^}}network-{{.*}}dp{{.*}}.json
// ALL: {{^}}planner.json

// A dump is what --stop-after writes.
// RUN: %{compile} %s --start-from import --stop-after partitioned -o %t.partitioned
// RUN: diff %t.partitioned %t.all/sub/5-partitioned.mlir

// The decisions name the mesh and the ops; the network is an input of cleave-solve.
// RUN: FileCheck %s --check-prefix=DECISIONS < %t.all/sub/planner.json
// DECISIONS: "dp"
// RUN: cleave-solve %t.all/sub/network-*.json | FileCheck %s --check-prefix=SOLVED
// SOLVED: {{[0-9]}}

// Phases that do not run write nothing.
// RUN: rm -rf %t.some && %{compile} %t.all/sub/2-train.mlir --start-from train --stop-after planned --dump-phases %t.some -o %t.planned
// RUN: ls %t.some | FileCheck %s --check-prefix=SOME
// SOME: {{^}}3-primitive.mlir
// SOME-NEXT: {{^}}4-planned.mlir
// SOME-NEXT: {{^}}network-
// SOME-NEXT: {{^}}planner.json
// SOME-NOT: {{.}}
// RUN: diff %t.planned %t.some/4-planned.mlir

// Without the phase `planned`, there is neither a network nor a decision.
// RUN: rm -rf %t.late && %{compile} %t.all/sub/5-partitioned.mlir --start-from partitioned --dump-phases %t.late -o %t.plan
// RUN: ls %t.late | FileCheck %s --check-prefix=LATE
// LATE: {{^}}6-scheduled.mlir
// LATE-NEXT: {{^}}7-program.mlir
// LATE-NEXT: {{^}}8-artifact.mlir
// LATE-NOT: network
// LATE-NOT: planner

// A folder that cannot be made is told before a phase runs.
// RUN: not %{compile} %s --start-from import --dump-phases %s/folder -o %t.plan 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER-NOT: recognised
// FOLDER: cleave-compile: error: cannot create {{.*}}dump-phases.mlir/folder: {{[A-Z]}}
func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<4x2xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.5 : f64}})
    -> (tensor<8x2xf32> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %1 = graph.relu %0 : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
