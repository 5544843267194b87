// Neutral operands, casts and known choices.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @adding_zero_and_multiplying_by_one_vanish
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @adding_zero_and_multiplying_by_one_vanish(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.add %zero, %x : tensor<4xf32>
  %1 = graph.mul %0, %one : tensor<4xf32>
  %2 = graph.sub %1, %zero : tensor<4xf32>
  %3 = graph.div %2, %one : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @known_factors_are_merged
func.func @known_factors_are_merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.constant dense<6.000000e+00>
  // CHECK: graph.mul
  // CHECK-NOT: graph.mul
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %0 = graph.mul %x, %two : tensor<4xf32>
  %1 = graph.mul %three, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_cast_back_from_a_wider_type_vanishes
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @a_cast_back_from_a_wider_type_vanishes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = graph.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = graph.cast %0 : tensor<4xf64> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_cast_that_rounds_stays
func.func @a_cast_that_rounds_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: graph.cast
  %0 = graph.cast %x : tensor<4xf32> -> tensor<4xf16>
  %1 = graph.cast %0 : tensor<4xf16> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @integers_that_a_cast_changes_are_not_cast_at_once
func.func @integers_that_a_cast_changes_are_not_cast_at_once(%x: tensor<4xi64>, %y: tensor<4xi8>, %z: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) {
  // CHECK-COUNT-6: graph.cast
  %0 = graph.cast %x : tensor<4xi64> -> tensor<4xbf16>
  %1 = graph.cast %0 : tensor<4xbf16> -> tensor<4xf32>
  %2 = graph.cast %y : tensor<4xi8> -> tensor<4xui16>
  %3 = graph.cast %2 : tensor<4xui16> -> tensor<4xf32>
  %4 = graph.cast %z : tensor<4xi32> -> tensor<4xf32>
  %5 = graph.cast %4 : tensor<4xf32> -> tensor<4xf64>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
}

// CHECK-LABEL: @small_integers_are_cast_at_once
func.func @small_integers_are_cast_at_once(%x: tensor<4xi8>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: graph.cast
  // CHECK-NOT: graph.cast
  %0 = graph.cast %x : tensor<4xi8> -> tensor<4xi16>
  %1 = graph.cast %0 : tensor<4xi16> -> tensor<4xf32>
  %2 = graph.cast %y : tensor<4xi32> -> tensor<4xf64>
  %3 = graph.cast %2 : tensor<4xf64> -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// tril(ones) == 0 selects where the column is greater than the row.
// CHECK-LABEL: @a_causal_mask_is_one_comparison
func.func @a_causal_mask_is_one_comparison(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[KEEP:.*]] = graph.compare {{.*}}le
  // CHECK-NEXT: graph.select %[[KEEP]], %arg1, %arg0
  // CHECK-NEXT: return
  %row = graph.iota dim 0 : tensor<8x8xi64>
  %column = graph.iota dim 1 : tensor<8x8xi64>
  %keep = graph.compare le %column, %row : tensor<8x8xi64>
  %one = graph.constant dense<1.0> : tensor<8x8xf32>
  %zero = graph.constant dense<0.0> : tensor<8x8xf32>
  %triangle = graph.select %keep, %one, %zero : tensor<8x8xi1>, tensor<8x8xf32>
  %masked = graph.compare eq %triangle, %zero : tensor<8x8xf32>
  %0 = graph.select %masked, %x, %y : tensor<8x8xi1>, tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @a_choice_of_truth_values_is_its_condition
func.func @a_choice_of_truth_values_is_its_condition(%c: tensor<4xi1>, %d: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK: %[[N:.*]] = graph.not %arg0
  // CHECK: return %arg1, %[[N]]
  %yes = graph.constant dense<true> : tensor<4xi1>
  %no = graph.constant dense<false> : tensor<4xi1>
  %0 = graph.select %d, %yes, %no : tensor<4xi1>, tensor<4xi1>
  %1 = graph.select %c, %no, %yes : tensor<4xi1>, tensor<4xi1>
  %2 = graph.and %0, %yes : tensor<4xi1>
  return %2, %1 : tensor<4xi1>, tensor<4xi1>
}
