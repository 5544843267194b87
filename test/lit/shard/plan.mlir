// Planning adds a mesh to the module, a layout to every argument and a strategy to every op.
// RUN: cleave-opt %s --cleave-shard-plan="ranks=2 pin=dp" --cleave-promise-check=phase=planned | FileCheck %s
// RUN: cleave-opt %s --cleave-shard-plan="mesh=tp=2 pin=megatron" | FileCheck %s --check-prefix=MESH
// RUN: not cleave-opt %s --cleave-shard-plan="mesh=two" 2>&1 | FileCheck %s --check-prefix=MALFORMED
// RUN: not cleave-opt %s --cleave-shard-plan="pin=nothing" 2>&1 | FileCheck %s --check-prefix=PIN

// CHECK: mesh.mesh = #mesh.mesh<[dp = 2]>
// CHECK: %arg0: tensor<4x6xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}, {}]>}
// CHECK-SAME: %arg1: tensor<6x8xf32> {{.*}}mesh.sharding = #mesh.sharding<[{}, {}]>}
// CHECK: graph.dot_general {{.*}} {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
// MESH: mesh.mesh = #mesh.mesh<[tp = 2]>
// MALFORMED: --mesh: found 'two', expected AXIS=N,..., for example dp=2,tp=2
// PIN: --pin:
func.func @step(%x: tensor<4x6xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<6x8xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 1.0 : f64}})
    -> (tensor<4x8xf32> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
