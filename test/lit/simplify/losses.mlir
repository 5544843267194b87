// Losses that an exporter spelled out.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// As nll_loss2d is decomposed: classes before positions, with a dim of one element between.
// CHECK-LABEL: @cross_entropy_of_classes_in_the_middle
func.func @cross_entropy_of_classes_in_the_middle(%x: tensor<2x8x3xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  // CHECK: graph.softmax_cross_entropy
  // CHECK-NOT: graph.log_softmax
  // CHECK: return
  %mean = graph.constant dense<-0.166666667> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<2x8x3xf32>
  %1 = graph.reshape %0 : tensor<2x8x3xf32> -> tensor<2x8x1x3xf32>
  %2 = graph.transpose %1 by [0, 3, 2, 1] : tensor<2x8x1x3xf32> -> tensor<2x3x1x8xf32>
  %3 = graph.reshape %labels : tensor<2x3xi64> -> tensor<2x3x1x1xi64>
  %4 = graph.gather %2 at %3 dim 3 {batch = 3 : i64} : tensor<2x3x1x8xf32>, tensor<2x3x1x1xi64> -> tensor<2x3x1x1xf32>
  %5 = graph.reduce sum %4 over [0, 1, 2, 3] : tensor<2x3x1x1xf32> -> tensor<f32>
  %6 = graph.mul %5, %mean : tensor<f32>
  return %6 : tensor<f32>
}

// Eight classes of which four can be meant are no cross entropy.
// CHECK-LABEL: @half_of_the_classes
func.func @half_of_the_classes(%x: tensor<2x8x3xf32>, %labels: tensor<2x3x2xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %mean = graph.constant dense<-0.0833333333> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<2x8x3xf32>
  %1 = graph.reshape %0 : tensor<2x8x3xf32> -> tensor<2x4x2x3xf32>
  %2 = graph.transpose %1 by [0, 3, 2, 1] : tensor<2x4x2x3xf32> -> tensor<2x3x2x4xf32>
  %3 = graph.reshape %labels : tensor<2x3x2xi64> -> tensor<2x3x2x1xi64>
  %4 = graph.gather %2 at %3 dim 3 {batch = 3 : i64} : tensor<2x3x2x4xf32>, tensor<2x3x2x1xi64> -> tensor<2x3x2x1xf32>
  %5 = graph.reduce sum %4 over [0, 1, 2, 3] : tensor<2x3x2x1xf32> -> tensor<f32>
  %6 = graph.mul %5, %mean : tensor<f32>
  return %6 : tensor<f32>
}
