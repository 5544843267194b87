// Every decision of the planner is a remark at its op or argument.
// RUN: cleave-opt %s --cleave-shard-plan="ranks=2 pin=dp" --remarks-filter=planner -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: remark: {{.*}}mesh{{.*}}the only mesh tried: dp=2: {{.*}}s
// CHECK-DAG: remark: {{.*}}bound{{.*}}per step; no plan on the meshes tried takes less than {{.*}}: gap {{0|<0.1}} %
// CHECK-DAG: remark: {{.*}}memory{{.*}}at the peak, budget {{.*}}; not binding; largest at the peak: dot_general.0 (
// CHECK-DAG: remark: {{.*}}pin{{.*}}dp leaves {{[0-9]+}} of {{[0-9]+}} choices
// CHECK-DAG: remark: {{.*}}parameter{{.*}}w lives as [_, _]; the only choice under the pins; dp leaves 1 of {{[0-9]+}} choices
// CHECK-DAG: remark: {{.*}}op{{.*}}: rows (a) over dp in a c, c b -> a b; gives [dp, _]; takes {{.*}}; the only choice
// CHECK-DAG: remark: {{.*}}collective{{.*}}from [_] partial(dp) to [dp] by reduce_scatter over dp of 16 B (
module {
  func.func @step(%x: tensor<64x8xf32> {graph.role = "input", graph.name = "x"},
                  %w: tensor<8x4xf32> {graph.role = "parameter", graph.name = "w"})
      -> (tensor<4xf32> {graph.role = "output", graph.name = "y"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      : tensor<64x8xf32>, tensor<8x4xf32> -> tensor<64x4xf32>
    %1 = graph.reduce sum %0 over [0] : tensor<64x4xf32> -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
