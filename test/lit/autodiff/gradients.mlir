// Gradients as ops: what is shared with the forward pass, and the order of operands of matrix products.
// RUN: cleave-opt --cleave-autodiff-gradients --split-input-file %s | FileCheck %s

// CHECK-LABEL: @a_linear_layer_needs_no_transpose
func.func @a_linear_layer_needs_no_transpose(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) -> tensor<f32> {
  // CHECK: %[[DY:.*]] = graph.broadcast %{{.*}} to [] : tensor<f32> -> tensor<8x3xf32>
  // CHECK-DAG: %[[DX:.*]] = graph.dot_general %[[DY]], %arg1 batch [] x [] contract [1] x [1] {{.*}} -> tensor<8x4xf32>
  // CHECK-DAG: %[[DW:.*]] = graph.dot_general %arg0, %[[DY]] batch [] x [] contract [0] x [0] {{.*}} -> tensor<4x3xf32>
  // CHECK: return %[[DX]], %[[DW]]
  %y = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  %loss = graph.reduce sum %y over [0, 1] : tensor<8x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: @softmax_is_differentiated_from_its_result
func.func @softmax_is_differentiated_from_its_result(%x: tensor<2x4xf32>, %m: tensor<2x4xf32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.softmax %arg0
  // CHECK: graph.broadcast
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[P:.*]] = graph.mul %[[DY]], %[[Y]]
  // CHECK: %[[S:.*]] = graph.reduce sum %[[P]] over [1]
  // CHECK: %[[B:.*]] = graph.broadcast %[[S]] to [0]
  // CHECK: %[[D:.*]] = graph.sub %[[DY]], %[[B]]
  // CHECK: graph.mul %[[Y]], %[[D]]
  // CHECK-NOT: graph.exp
  %y = graph.softmax %x dim 1 : tensor<2x4xf32>
  %z = graph.mul %y, %m : tensor<2x4xf32>
  %loss = graph.reduce sum %z over [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: @an_embedding_gets_the_sum_of_its_rows_gradients
func.func @an_embedding_gets_the_sum_of_its_rows_gradients(%t: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<f32> {
  // CHECK: %[[G:.*]] = graph.scatter sum %{{.*}} at %arg1 dim 0 : tensor<3x4xf32>, tensor<3xi64> -> tensor<10x4xf32>
  // CHECK: return %[[G]] : tensor<10x4xf32>
  %y = graph.gather %t at %i dim 0 : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %loss = graph.reduce sum %y over [0, 1] : tensor<3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: @the_gradients_of_attention_are_one_op
func.func @the_gradients_of_attention_are_one_op(%q: tensor<3x5x8xf32>, %b: tensor<3x1x5xf32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]], %[[LSE:.*]] = graph.attention %arg0, %arg0, %arg0 bias %arg1
  // CHECK: %[[DY:.*]] = graph.broadcast %{{.*}} -> tensor<3x5x8xf32>
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]], %[[DB:.*]] = graph.attention_grad %arg0, %arg0, %arg0, %[[Y]], %[[LSE]], %[[DY]] bias %arg1 {causal, scale = 5.000000e-01 : f64}
  // CHECK: return %{{.*}}, %[[DB]] :
  %y, %lse = graph.attention %q, %q, %q bias %b {causal, scale = 0.5 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x1x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %loss = graph.reduce sum %y over [0, 1, 2] : tensor<3x5x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: @a_bias_that_depends_on_no_argument_has_no_gradient
func.func @a_bias_that_depends_on_no_argument_has_no_gradient(%q: tensor<3x5x8xf32>) -> tensor<f32> {
  // CHECK: %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} = graph.attention_grad %arg0, %arg0, %arg0, %{{.*}} bias
  %b = graph.iota dim 2 : tensor<3x5x5xf32>
  %y, %lse = graph.attention %q, %q, %q bias %b {scale = 0.5 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %loss = graph.reduce sum %y over [0, 1, 2] : tensor<3x5x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: @the_gradient_of_an_argument_by_itself_is_1(
func.func @the_gradient_of_an_argument_by_itself_is_1(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: return %[[ONE]] :
  %unread = graph.neg %x : tensor<f32>
  return %x : tensor<f32>
}
