// A training step gives every dropout a seed that follows from the number of the micro-batch; gradients drop by the same one.
// RUN: cleave-opt "--cleave-train-step=loss=mse:y optimizer=sgd:lr=0.5" %s | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[COUNT:arg[0-9]+]]: tensor<f64> {graph.name = "dropout.micro_batch", graph.per_micro_batch, graph.role = "state"
// CHECK: %[[NUMBER:.*]] = graph.add %[[COUNT]], %
// CHECK: %[[FIRST:.*]] = graph.cast %{{.*}} : tensor<f64> -> tensor<i64>
// CHECK: %[[X:.*]] = graph.dropout %{{.*}} seed %[[FIRST]] {rate = 5.000000e-01 : f64}
// CHECK: %[[SECOND:.*]] = graph.cast %{{.*}} : tensor<f64> -> tensor<i64>
// CHECK: %[[Y:.*]], %[[LSE:.*]] = graph.attention %[[X]], %[[X]], %[[X]] seed %[[SECOND]] {dropout = 1.000000e-01 : f64
// CHECK: graph.attention_grad %[[X]], %[[X]], %[[X]], %[[Y]], %[[LSE]], %{{.*}} seed %[[SECOND]] {dropout = 1.000000e-01 : f64
// CHECK: graph.dropout %{{.*}} seed %[[FIRST]] {rate = 5.000000e-01 : f64}
// CHECK: return
func.func @step(%x: tensor<3x5x8xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<3x5x8xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<3x5x8xf32> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.mul %x, %w : tensor<3x5x8xf32>
  %1 = graph.dropout %0 {rate = 0.5 : f64} : tensor<3x5x8xf32>
  %2, %lse_2 = graph.attention %1, %1, %1 {scale = 1.0 : f64, dropout = 0.1 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %2 : tensor<3x5x8xf32>
}
