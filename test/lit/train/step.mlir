// A forward step becomes a training step: the interface of the function, the loss of a micro-batch as a part of that of the step, and
// the update of the parameter.
// RUN: cleave-opt "--cleave-train-step=loss=softmax-cross-entropy:logits,y optimizer=adamw:lr=0.5 clip-norm=1 accumulate=2" %s | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg1: tensor<4x3xf32> {graph.name = "w", graph.role = "parameter", graph.trainable}
// CHECK-SAME: %arg2: tensor<8xi64> {graph.name = "y", graph.role = "label"}
// CHECK-SAME: %arg3: tensor<16xi64> {graph.all_of = "y", graph.name = "y/step", graph.role = "label"}
// CHECK-SAME: %arg4: tensor<f64> {graph.name = "step", graph.role = "state", graph.source = {fill = 0.000000e+00 : f64}}
// CHECK-SAME: %arg5: tensor<f64> {graph.name = "lr", graph.role = "hyperparameter", graph.source = {fill = 5.000000e-01 : f64}}
// CHECK-SAME: %arg6: tensor<4x3xf32> {graph.name = "w/adam.m", graph.parameter = "w", graph.role = "state"
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}, tensor<f32> {graph.name = "grad_norm", graph.role = "metric"}
// CHECK-SAME: tensor<4x3xf32> {graph.alias = 1 : i64, graph.name = "w", graph.role = "parameter"}
// CHECK: %[[LOSS:.*]] = graph.softmax_cross_entropy %{{.*}}, %arg2
// CHECK: graph.compare ne %arg3, %
// CHECK: %[[COUNTED:.*]] = graph.select %{{.*}}, %[[LOSS]], %
// CHECK: %[[PART:.*]] = graph.mul %[[COUNTED]], %
// CHECK: %[[GRADIENT:.*]] = graph.dot_general %arg0
// CHECK: %[[SUM:.*]] = graph.accumulate %[[GRADIENT]] count 2
// CHECK: graph.accumulate %[[PART]] count 2
// CHECK: %[[NORM:.*]] = graph.sqrt
// CHECK: graph.min
// CHECK: graph.mul %arg6, %
// CHECK: graph.mul %arg7, %
// CHECK: graph.sqrt
// CHECK: return
func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<4x3xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<8x3xf32> {graph.name = "logits", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
