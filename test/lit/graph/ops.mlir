// Every family prints what it parses.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<2x3xf32>, %n: tensor<2x3xi64>) -> tensor<2x3xf32> {
  // CHECK: graph.exp %{{.*}} : tensor<2x3xf32>
  %0 = graph.exp %x : tensor<2x3xf32>
  %1 = graph.add %0, %x : tensor<2x3xf32>
  // CHECK: graph.compare lt
  %2 = graph.compare lt %1, %x : tensor<2x3xf32>
  %3 = graph.select %2, %0, %1 : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK: graph.cast %{{.*}} : tensor<2x3xi64> -> tensor<2x3xf32>
  %4 = graph.cast %n : tensor<2x3xi64> -> tensor<2x3xf32>
  // CHECK: graph.gelu %{{.*}} {tanh}
  %5 = graph.gelu %4 {tanh} : tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x3xf32, #graph.dims<["batch", ""]>>, %w: tensor<3x5xf32>)
    -> tensor<?x5xf32, #graph.dims<["batch", ""]>> {
  // CHECK: graph.dot_general {{.*}} batch [] x [] contract [1] x [0]
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
    : tensor<?x3xf32, #graph.dims<["batch", ""]>>, tensor<3x5xf32> -> tensor<?x5xf32, #graph.dims<["batch", ""]>>
  return %0 : tensor<?x5xf32, #graph.dims<["batch", ""]>>
}

// CHECK-LABEL: func.func @fusion
func.func @fusion(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: graph.fusion (%[[A:.*]] = %{{.*}} : tensor<4x8xf32>) -> (tensor<4xf32>)
  // CHECK: graph.reduce sum %{{.*}} over [1]
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4xf32>) {
    %c = graph.constant dense<0.5> : tensor<f32>
    %h = graph.broadcast %c to [] : tensor<f32> -> tensor<4x8xf32>
    %1 = graph.mul %a, %h : tensor<4x8xf32>
    %2 = graph.reduce sum %1 over [1] : tensor<4x8xf32> -> tensor<4xf32>
    graph.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<4x6xf32>, %i: tensor<5xi64>) -> tensor<5x6xf32> {
  %0 = graph.reshape %x : tensor<4x6xf32> -> tensor<2x2x6xf32>
  %1 = graph.transpose %0 by [1, 0, 2] : tensor<2x2x6xf32> -> tensor<2x2x6xf32>
  %2 = graph.slice %1 dim 2 from 1 step 2 : tensor<2x2x6xf32> -> tensor<2x2x3xf32>
  %3 = graph.pad %2 dim 2 low 3 : tensor<2x2x3xf32> -> tensor<2x2x6xf32>
  %4 = graph.concat %3, %1 dim 0 : tensor<2x2x6xf32>, tensor<2x2x6xf32> -> tensor<4x2x6xf32>
  %5 = graph.reduce max %4 over [1] : tensor<4x2x6xf32> -> tensor<4x6xf32>
  // CHECK: graph.gather %{{.*}} at %{{.*}} dim 0
  %6 = graph.gather %5 at %i dim 0 : tensor<4x6xf32>, tensor<5xi64> -> tensor<5x6xf32>
  return %6 : tensor<5x6xf32>
}

// A transposed convolution with an output padding of at least the stride: graph.conv of the result
// has one window more than there are gradients.
// CHECK-LABEL: func.func @output_padding
func.func @output_padding(%x: tensor<1x4x3xf32>, %w: tensor<4x2x2xf32>) -> tensor<1x2x6xf32> {
  // CHECK: graph.conv_input_grad {{.*}} : tensor<1x4x3xf32>, tensor<4x2x2xf32> -> tensor<1x2x6xf32>
  %0 = graph.conv_input_grad %x, %w {strides = array<i64: 1>, dilations = array<i64: 2>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x2x2xf32> -> tensor<1x2x6xf32>
  return %0 : tensor<1x2x6xf32>
}

// CHECK-LABEL: func.func @symbolic_convolution
func.func @symbolic_convolution(%x: tensor<?x2x?xf32, #graph.dims<["n", "", "w"]>>, %w: tensor<4x2x3xf32>)
    -> tensor<4x2x3xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64}
    : tensor<?x2x?xf32, #graph.dims<["n", "", "w"]>>, tensor<4x2x3xf32> -> tensor<?x4x?xf32, #graph.dims<["n", "", "floor((w + 1)/2)"]>>
  // CHECK: graph.conv_weight_grad
  %1 = graph.conv_weight_grad %0, %x {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64}
    : tensor<?x4x?xf32, #graph.dims<["n", "", "floor((w + 1)/2)"]>>, tensor<?x2x?xf32, #graph.dims<["n", "", "w"]>> -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}
