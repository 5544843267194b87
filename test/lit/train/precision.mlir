// Training in low types: what a step in bf16 and one in f16 compute, and that the weight's gradient is a product of bf16 stored as f32.
// RUN: cleave-opt "--cleave-train-step=loss=softmax-cross-entropy:logits,y optimizer=momentum:lr=0.5 dtype=bf16" %s | FileCheck %s
// RUN: cleave-opt "--cleave-train-step=loss=softmax-cross-entropy:logits,y optimizer=momentum:lr=0.5 dtype=f16 accumulate=2" %s | FileCheck %s --check-prefix=F16

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg1: tensor<4x3xf32> {graph.name = "w", graph.role = "parameter", graph.trainable}
// CHECK-SAME: tensor<4x3xf32> {graph.name = "w/sgd.velocity"
// CHECK-NOT: loss_scale
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<8x3xbf16>
// CHECK: %[[LOGITS:.*]] = graph.cast %[[Y]]
// CHECK: graph.softmax_cross_entropy %[[LOGITS]], %arg2 : tensor<8x3xf32>
// CHECK: %[[G:.*]] = graph.dot_general {{.*}} : tensor<8x4xbf16>, tensor<8x3xbf16> -> tensor<4x3xf32>
// CHECK: graph.select %{{.*}}, %[[G]], %{{.*}} : tensor<4x3xi1>, tensor<4x3xf32>

// F16-LABEL: func.func @step(
// F16-SAME: %[[SCALE:arg[0-9]+]]: tensor<f32> {graph.name = "loss_scale", graph.role = "state", graph.source = {fill = 6.553600e+04 : f64}}
// F16-SAME: %[[GOOD:arg[0-9]+]]: tensor<f32> {graph.name = "loss_scale.good_steps", graph.role = "state"
// F16-SAME: tensor<f32> {graph.name = "loss_scale", graph.role = "metric"}
// F16: %[[LOSS:.*]] = graph.softmax_cross_entropy
// F16: %[[G:.*]] = graph.dot_general {{.*}} : tensor<8x4xf16>, tensor<8x3xf16> -> tensor<4x3xf32>
// F16: graph.accumulate %[[G]] count 2
// F16: graph.div %{{.*}}, %[[SCALE]] : tensor<f32>
// F16: %[[NORM:.*]] = graph.sqrt
// F16: %[[FINITE:.*]] = graph.compare lt %[[NORM]],
// F16: graph.select %{{.*}}, %{{.*}}, %arg1
// F16: graph.compare ge
func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<4x3xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<8x3xf32> {graph.name = "logits", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
