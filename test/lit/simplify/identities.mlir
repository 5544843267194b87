// Neutral operands, known summands and factors, casts of casts: which of them vanish.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @zero_minus_x_is_not_x
func.func @zero_minus_x_is_not_x(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = graph.sub %{{.*}}, %arg0
  // CHECK-NEXT: return %[[Y]]
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %0 = graph.sub %zero, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @one_divided_by_x_is_not_x
func.func @one_divided_by_x_is_not_x(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = graph.div %{{.*}}, %arg0
  // CHECK-NEXT: return %[[Y]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.div %one, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @neutral_operands_of_integers_vanish
func.func @neutral_operands_of_integers_vanish(%x: tensor<4xi64>) -> tensor<4xi64> {
  // CHECK-NEXT: return %arg0
  %zero = graph.constant dense<0> : tensor<i64>
  %zeros = graph.broadcast %zero to [] : tensor<i64> -> tensor<4xi64>
  %one = graph.constant dense<1> : tensor<4xi64>
  %0 = graph.add %x, %zeros : tensor<4xi64>
  %1 = graph.mul %one, %0 : tensor<4xi64>
  %2 = graph.div %1, %one : tensor<4xi64>
  return %2 : tensor<4xi64>
}

// CHECK-LABEL: @a_product_with_zero_stays_since_x_may_be_infinite
func.func @a_product_with_zero_stays_since_x_may_be_infinite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.mul %arg0
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %0 = graph.mul %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_table_of_which_one_element_is_neutral_stays
func.func @a_table_of_which_one_element_is_neutral_stays(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: graph.add %arg0
  %table = graph.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %0 = graph.add %x, %table : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @or_with_false_and_and_with_true_vanish_on_both_sides
func.func @or_with_false_and_and_with_true_vanish_on_both_sides(%c: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: return %arg0
  %yes = graph.constant dense<true> : tensor<4xi1>
  %no = graph.constant dense<false> : tensor<4xi1>
  %0 = graph.or %c, %no : tensor<4xi1>
  %1 = graph.or %no, %0 : tensor<4xi1>
  %2 = graph.and %1, %yes : tensor<4xi1>
  %3 = graph.and %yes, %2 : tensor<4xi1>
  return %3 : tensor<4xi1>
}

// CHECK-LABEL: @and_with_false_and_or_with_true_are_not_their_operand
func.func @and_with_false_and_or_with_true_are_not_their_operand(%c: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: graph.and %arg0
  // CHECK-DAG: graph.or %arg0
  %yes = graph.constant dense<true> : tensor<4xi1>
  %no = graph.constant dense<false> : tensor<4xi1>
  %0 = graph.and %c, %no : tensor<4xi1>
  %1 = graph.or %c, %yes : tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// One is true, but as an integer it has the lowest bit alone.
// CHECK-LABEL: @a_bitwise_and_with_one_stays
func.func @a_bitwise_and_with_one_stays(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: graph.and %arg0
  %one = graph.constant dense<1> : tensor<4xi32>
  %0 = graph.and %x, %one : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @known_summands_are_merged
func.func @known_summands_are_merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.constant dense<5.000000e+00> : tensor<f32>
  // CHECK: %[[Y:.*]] = graph.add %arg0
  // CHECK-NEXT: return %[[Y]]
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %0 = graph.add %two, %x : tensor<4xf32>
  %1 = graph.add %0, %three : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @summands_that_cancel_vanish
func.func @summands_that_cancel_vanish(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %less = graph.constant dense<-2.0> : tensor<4xf32>
  %0 = graph.add %x, %two : tensor<4xf32>
  %1 = graph.add %0, %less : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The inner product is needed anyway, so merging would add a product instead of removing one.
// CHECK-LABEL: @factors_of_a_product_with_another_use_stay_apart
func.func @factors_of_a_product_with_another_use_stay_apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = graph.mul %arg0
  // CHECK: %[[B:.*]] = graph.mul %[[A]]
  // CHECK-NEXT: return %[[A]], %[[B]]
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %0 = graph.mul %x, %two : tensor<4xf32>
  %1 = graph.mul %0, %three : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @a_sum_inside_a_product_is_not_merged
func.func @a_sum_inside_a_product_is_not_merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = graph.add %arg0
  // CHECK: graph.mul %[[A]]
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %0 = graph.add %x, %two : tensor<4xf32>
  %1 = graph.mul %0, %three : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A sum of integers may wrap around between the two summands.
// CHECK-LABEL: @known_summands_of_integers_stay_apart
func.func @known_summands_of_integers_stay_apart(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-COUNT-2: graph.add
  %two = graph.constant dense<2> : tensor<4xi32>
  %three = graph.constant dense<3> : tensor<4xi32>
  %0 = graph.add %x, %two : tensor<4xi32>
  %1 = graph.add %0, %three : tensor<4xi32>
  return %1 : tensor<4xi32>
}

// CHECK-LABEL: @a_cast_to_the_same_type_vanishes
func.func @a_cast_to_the_same_type_vanishes(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NEXT: return %arg0
  %0 = graph.cast %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: @halves_of_both_formats_pass_through_single_precision
func.func @halves_of_both_formats_pass_through_single_precision(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf64>) {
  // CHECK-DAG: %[[X:.*]] = graph.cast %arg0 : tensor<4xbf16> -> tensor<4xf16>
  // CHECK-DAG: %[[Y:.*]] = graph.cast %arg1 : tensor<4xf16> -> tensor<4xf64>
  // CHECK: return %[[X]], %[[Y]]
  %0 = graph.cast %x : tensor<4xbf16> -> tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xf32> -> tensor<4xf16>
  %2 = graph.cast %y : tensor<4xf16> -> tensor<4xf32>
  %3 = graph.cast %2 : tensor<4xf32> -> tensor<4xf64>
  return %1, %3 : tensor<4xf16>, tensor<4xf64>
}

// CHECK-LABEL: @neither_half_precision_holds_the_other
func.func @neither_half_precision_holds_the_other(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xbf16>, tensor<4xf16>) {
  // CHECK-COUNT-4: graph.cast
  %0 = graph.cast %x : tensor<4xbf16> -> tensor<4xf16>
  %1 = graph.cast %0 : tensor<4xf16> -> tensor<4xbf16>
  %2 = graph.cast %y : tensor<4xf16> -> tensor<4xbf16>
  %3 = graph.cast %2 : tensor<4xbf16> -> tensor<4xf16>
  return %1, %3 : tensor<4xbf16>, tensor<4xf16>
}

// CHECK-LABEL: @truth_values_pass_through_integers
func.func @truth_values_pass_through_integers(%c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: %[[Y:.*]] = graph.cast %arg0 : tensor<4xi1> -> tensor<4xf32>
  // CHECK-NEXT: return %[[Y]], %arg0
  %0 = graph.cast %c : tensor<4xi1> -> tensor<4xi32>
  %1 = graph.cast %0 : tensor<4xi32> -> tensor<4xf32>
  %2 = graph.cast %0 : tensor<4xi32> -> tensor<4xi1>
  return %1, %2 : tensor<4xf32>, tensor<4xi1>
}

// Every number but zero becomes one.
// CHECK-LABEL: @numbers_do_not_pass_through_truth_values
func.func @numbers_do_not_pass_through_truth_values(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-COUNT-4: graph.cast
  %0 = graph.cast %x : tensor<4xf32> -> tensor<4xi1>
  %1 = graph.cast %0 : tensor<4xi1> -> tensor<4xf32>
  %2 = graph.cast %y : tensor<4xi32> -> tensor<4xi1>
  %3 = graph.cast %2 : tensor<4xi1> -> tensor<4xi32>
  return %1, %3 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: @fractions_do_not_pass_through_integers
func.func @fractions_do_not_pass_through_integers(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: graph.cast
  %0 = graph.cast %x : tensor<4xf32> -> tensor<4xi64>
  %1 = graph.cast %0 : tensor<4xi64> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @unsigned_integers_pass_through_wider_integers_with_sign
func.func @unsigned_integers_pass_through_wider_integers_with_sign(%x: tensor<4xui8>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.cast %arg0 : tensor<4xui8> -> tensor<4xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.cast %x : tensor<4xui8> -> tensor<4xi32>
  %1 = graph.cast %0 : tensor<4xi32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @unsigned_integers_do_not_pass_through_those_with_sign_of_the_same_width
func.func @unsigned_integers_do_not_pass_through_those_with_sign_of_the_same_width(%x: tensor<4xui32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: graph.cast
  %0 = graph.cast %x : tensor<4xui32> -> tensor<4xi32>
  %1 = graph.cast %0 : tensor<4xi32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @integers_of_16_bits_pass_through_single_but_not_half_precision
func.func @integers_of_16_bits_pass_through_single_but_not_half_precision(%x: tensor<4xi16>) -> (tensor<4xf64>, tensor<4xf64>) {
  // CHECK-DAG: %[[A:.*]] = graph.cast %arg0 : tensor<4xi16> -> tensor<4xf64>
  // CHECK-DAG: %[[H:.*]] = graph.cast %arg0 : tensor<4xi16> -> tensor<4xf16>
  // CHECK: %[[B:.*]] = graph.cast %[[H]] : tensor<4xf16> -> tensor<4xf64>
  // CHECK: return %[[A]], %[[B]]
  %0 = graph.cast %x : tensor<4xi16> -> tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xf32> -> tensor<4xf64>
  %2 = graph.cast %x : tensor<4xi16> -> tensor<4xf16>
  %3 = graph.cast %2 : tensor<4xf16> -> tensor<4xf64>
  return %1, %3 : tensor<4xf64>, tensor<4xf64>
}
