// With `keep-kernels`, an op for which programs have one kernel stays whole; by its types and operands, not by its name.
// RUN: cleave-opt --cleave-decompose-composites=keep-kernels %s | FileCheck %s

// CHECK-LABEL: @attention_in_single_precision_stays(
func.func @attention_in_single_precision_stays(%q: tensor<2x5x8xf32>, %dy: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>) {
  // CHECK-NEXT: %[[Y:.*]], %[[L:.*]] = graph.attention %arg0, %arg0, %arg0
  // CHECK-NEXT: graph.attention_grad %arg0, %arg0, %arg0, %[[Y]], %[[L]], %arg1
  // CHECK-NEXT: return
  %y, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  %dq, %dk, %dv = graph.attention_grad %q, %q, %q, %y, %lse, %dy {scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>)
  return %y, %dq : tensor<2x5x8xf32>, tensor<2x5x8xf32>
}

// CHECK-LABEL: @grouped_products_stay(
func.func @grouped_products_stay(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<3xi32>) -> tensor<3x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.grouped_matmul %arg0, %arg1, %arg2
  // CHECK-NEXT: graph.grouped_weight_grad %arg0, %[[Y]], %arg2
  // CHECK-NEXT: return
  %y = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
  %dw = graph.grouped_weight_grad %x, %y, %e : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
  return %dw : tensor<3x4x8xf32>
}

// CHECK-LABEL: @the_gradient_of_a_bias_has_no_kernel(
func.func @the_gradient_of_a_bias_has_no_kernel(%q: tensor<2x5x8xf32>, %b: tensor<2x5x5xf32>, %l: tensor<2x5xf32>) -> tensor<2x5x5xf32> {
  // CHECK-NOT: graph.attention_grad
  // CHECK: graph.dot_general
  // CHECK: return
  %dq, %dk, %dv, %db = graph.attention_grad %q, %q, %q, %q, %l, %q bias %b {scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5xf32>, tensor<2x5x8xf32>, tensor<2x5x5xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x5xf32>)
  return %db : tensor<2x5x5xf32>
}

// CHECK-LABEL: @attention_without_queries_has_no_kernel(
func.func @attention_without_queries_has_no_kernel(%q: tensor<2x0x8xf32>, %k: tensor<2x5x8xf32>) -> tensor<2x0x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %y, %lse = graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x0x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x0x8xf32>, tensor<2x0xf32>)
  return %y : tensor<2x0x8xf32>
}

// CHECK-LABEL: @attention_in_double_precision_has_no_kernel(
func.func @attention_in_double_precision_has_no_kernel(%q: tensor<2x5x8xf64>) -> tensor<2x5x8xf64> {
  // CHECK-NOT: graph.attention
  // CHECK: graph.dot_general
  // CHECK: return
  %y, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x5x8xf64>, tensor<2x5x8xf64>, tensor<2x5x8xf64>) -> (tensor<2x5x8xf64>, tensor<2x5xf64>)
  return %y : tensor<2x5x8xf64>
}

// CHECK-LABEL: @other_composites_have_none(
func.func @other_composites_have_none(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-NOT: graph.relu
  // CHECK: graph.max
  %y = graph.relu %x : tensor<f32>
  return %y : tensor<f32>
}
