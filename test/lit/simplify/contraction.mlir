// Products of matrices: transposes and known factors of the operands.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @scales_of_queries_and_keys_become_one_behind_the_product
func.func @scales_of_queries_and_keys_become_one_behind_the_product(%q: tensor<2x16x8xf32>, %k: tensor<2x16x8xf32>) -> tensor<2x16x16xf32> {
  // CHECK-DAG: %[[DOT:.*]] = graph.dot_general %arg0, %arg1 batch [0] x [0] contract [2] x [2]
  // CHECK-DAG: %[[C:.*]] = graph.constant dense<1.250000e-01> : tensor<f32>
  // CHECK: %[[SCALE:.*]] = graph.broadcast %[[C]]
  // CHECK: %[[SCORES:.*]] = graph.mul %[[DOT]], %[[SCALE]]
  // CHECK: graph.softmax %[[SCORES]]
  %a = graph.constant dense<0.25> : tensor<f32>
  %b = graph.constant dense<0.5> : tensor<f32>
  %as = graph.broadcast %a to [] : tensor<f32> -> tensor<2x16x8xf32>
  %bs = graph.broadcast %b to [] : tensor<f32> -> tensor<2x8x16xf32>
  %kt = graph.transpose %k by [0, 2, 1] : tensor<2x16x8xf32> -> tensor<2x8x16xf32>
  %qa = graph.mul %q, %as : tensor<2x16x8xf32>
  %kb = graph.mul %bs, %kt : tensor<2x8x16xf32>
  %s = graph.dot_general %qa, %kb batch [0] x [0] contract [2] x [1]
    : tensor<2x16x8xf32>, tensor<2x8x16xf32> -> tensor<2x16x16xf32>
  %p = graph.softmax %s dim 2 : tensor<2x16x16xf32>
  return %p : tensor<2x16x16xf32>
}

// CHECK-LABEL: @a_factor_stays_where_nothing_elementwise_follows
func.func @a_factor_stays_where_nothing_elementwise_follows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[SCALED:.*]] = graph.mul %arg0
  // CHECK: graph.dot_general %[[SCALED]], %arg0
  %a = graph.constant dense<0.25> : tensor<f32>
  %as = graph.broadcast %a to [] : tensor<f32> -> tensor<4x4xf32>
  %xa = graph.mul %x, %as : tensor<4x4xf32>
  %y = graph.dot_general %xa, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %z = graph.dot_general %y, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
