// Ops on constants alone are folded.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @splats_become_a_scalar_and_a_broadcast
func.func @splats_become_a_scalar_and_a_broadcast() -> tensor<100x100xf32> {
  // CHECK: %[[C:.*]] = graph.constant dense<6.000000e+00> : tensor<f32>
  // CHECK: %[[B:.*]] = graph.broadcast %[[C]] to []
  // CHECK: return %[[B]]
  %two = graph.constant dense<2.0> : tensor<100x100xf32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %threes = graph.broadcast %three to [] : tensor<f32> -> tensor<100x100xf32>
  %0 = graph.mul %two, %threes : tensor<100x100xf32>
  return %0 : tensor<100x100xf32>
}

// CHECK-LABEL: @the_scale_of_attention_is_computed
func.func @the_scale_of_attention_is_computed() -> tensor<f32> {
  // CHECK: graph.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NOT: graph.sqrt
  %shape = graph.constant dense<[2, 3, 5, 4]> : tensor<4xi64>
  %0 = graph.slice %shape dim 0 from 3 step 1 : tensor<4xi64> -> tensor<1xi64>
  %1 = graph.cast %0 : tensor<1xi64> -> tensor<1xf32>
  %2 = graph.sqrt %1 : tensor<1xf32>
  %3 = graph.reshape %2 : tensor<1xf32> -> tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %4 = graph.div %one, %3 : tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @large_results_stay_computed
func.func @large_results_stay_computed() -> tensor<128xi64> {
  // CHECK: graph.mul
  %0 = graph.constant dense<3> : tensor<i64>
  %1 = graph.broadcast %0 to [] : tensor<i64> -> tensor<128xi64>
  %2 = graph.iota dim 0 : tensor<128xi64>
  %3 = graph.mul %1, %2 : tensor<128xi64>
  return %3 : tensor<128xi64>
}

// CHECK-LABEL: @integers_that_doubles_cannot_hold_stay
func.func @integers_that_doubles_cannot_hold_stay() -> tensor<2xi64> {
  // CHECK: graph.sub
  %0 = graph.constant dense<[9223372036854775807, 1]> : tensor<2xi64>
  %1 = graph.constant dense<[1, 2]> : tensor<2xi64>
  %2 = graph.sub %0, %1 : tensor<2xi64>
  return %2 : tensor<2xi64>
}

// CHECK-LABEL: @counting_is_an_iota
func.func @counting_is_an_iota() -> (tensor<1x4xi64>, tensor<4xi64>, tensor<4xi64>) {
  // CHECK-DAG: %[[I:.*]] = graph.iota dim 0 : tensor<4xi64>
  // CHECK-DAG: %[[R:.*]] = graph.reshape %[[I]] : tensor<4xi64> -> tensor<1x4xi64>
  // CHECK-DAG: %[[S:.*]] = graph.add %[[I]]
  // CHECK-DAG: %[[C:.*]] = graph.constant dense<[0, 1, 2, 4]>
  // CHECK: return %[[R]], %[[S]], %[[C]]
  %0 = graph.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  %1 = graph.constant dense<[7, 8, 9, 10]> : tensor<4xi64>
  %2 = graph.constant dense<[0, 1, 2, 4]> : tensor<4xi64>
  return %0, %1, %2 : tensor<1x4xi64>, tensor<4xi64>, tensor<4xi64>
}

// Masks that models keep as buffers.
// CHECK-LABEL: @two_numbers_on_both_sides_of_a_diagonal_are_a_comparison
func.func @two_numbers_on_both_sides_of_a_diagonal_are_a_comparison() -> (tensor<1x3x3xf32>, tensor<2x3xi1>) {
  // CHECK-DAG: %[[R:.*]] = graph.iota dim 0 : tensor<3x3xi64>
  // CHECK-DAG: %[[C:.*]] = graph.iota dim 1 : tensor<3x3xi64>
  // CHECK-DAG: %[[L:.*]] = graph.compare le %[[C]], %[[R]] : tensor<3x3xi64>
  // CHECK-DAG: %[[S:.*]] = graph.select %[[L]]
  // CHECK-DAG: %[[M:.*]] = graph.broadcast %[[S]] to [1, 2] : tensor<3x3xf32> -> tensor<1x3x3xf32>
  // CHECK-DAG: %[[G:.*]] = graph.compare gt {{.*}} : tensor<2x3xi64>
  // CHECK: return %[[M]], %[[G]]
  %0 = graph.constant dense<[[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0]]]> : tensor<1x3x3xf32>
  %1 = graph.constant dense<[[false, false, true], [false, false, false]]> : tensor<2x3xi1>
  return %0, %1 : tensor<1x3x3xf32>, tensor<2x3xi1>
}

// CHECK-LABEL: @a_table_with_one_other_number_stays
func.func @a_table_with_one_other_number_stays() -> tensor<2x3xf32> {
  // CHECK: graph.constant dense<{{\[}}[1.0
  %0 = graph.constant dense<[[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]]> : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @a_size_without_symbols_among_others_is_a_number(
func.func @a_size_without_symbols_among_others_is_a_number() -> (tensor<i64>, tensor<2xi64>) {
  // CHECK-DAG: %[[N:.*]] = graph.constant dense<8> : tensor<i64>
  // CHECK-DAG: %[[S:.*]] = graph.sizes ["b", "s"] : tensor<2xi64>
  // CHECK: return %[[N]], %[[S]]
  %0 = graph.sizes ["b", "2", "s", "8"] : tensor<4xi64>
  %1 = graph.slice %0 dim 0 from 3 step 1 : tensor<4xi64> -> tensor<1xi64>
  %2 = graph.reshape %1 : tensor<1xi64> -> tensor<i64>
  %3 = graph.slice %0 dim 0 from 0 step 2 : tensor<4xi64> -> tensor<2xi64>
  return %2, %3 : tensor<i64>, tensor<2xi64>
}
