// Symbolic sizes stay symbols up to the phase `primitive`. A plan needs numbers.
// DEFINE: %{from} = cleave-compile %s --start-from import --cluster h100-node

// RUN: %{from} --stop-after forward -o - | FileCheck %s --check-prefix=FORWARD
// FORWARD: graph.relu %arg0 : tensor<?x4xf32, #graph.dims<["n", ""]>>

// RUN: %{from} --stop-after primitive -o - | FileCheck %s --check-prefix=PRIMITIVE
// PRIMITIVE: graph.fusion (
// PRIMITIVE: %arg0 : tensor<?x4xf32, #graph.dims<["n", ""]>>
// PRIMITIVE: -> (tensor<?x4xf32, #graph.dims<["n", ""]>>)

// RUN: not %{from} --stop-after planned -o - 2>&1 | FileCheck %s --check-prefix=PLANNED
// PLANNED: cleave-compile: error: {{.*}}symbols.mlir:{{[0-9]+}}: a plan needs sizes: the tensor 'tensor<?x4xf32, #graph.dims<["n", ""]>>' still has symbolic dims; give them values with --set NAME=SIZE
func.func @step(%x: tensor<?x4xf32, #graph.dims<["n", ""]>> {graph.name = "x", graph.role = "input"})
    -> (tensor<?x4xf32, #graph.dims<["n", ""]>> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.relu %x : tensor<?x4xf32, #graph.dims<["n", ""]>>
  return %0 : tensor<?x4xf32, #graph.dims<["n", ""]>>
}
