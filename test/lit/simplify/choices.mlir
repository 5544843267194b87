// Selects, negations and comparisons of which a part is known.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @a_known_condition_chooses
func.func @a_known_condition_chooses(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: return %arg0, %arg1
  %yes = graph.constant dense<true> : tensor<4xi1>
  %no = graph.constant dense<false> : tensor<i1>
  %nos = graph.broadcast %no to [] : tensor<i1> -> tensor<4xi1>
  %0 = graph.select %yes, %x, %y : tensor<4xi1>, tensor<4xf32>
  %1 = graph.select %nos, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @a_condition_that_is_not_the_same_everywhere_does_not_choose
func.func @a_condition_that_is_not_the_same_everywhere_does_not_choose(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: graph.select
  %c = graph.constant dense<[true, false, true]> : tensor<3xi1>
  %0 = graph.select %c, %x, %y : tensor<3xi1>, tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @a_choice_between_equal_values_is_none
func.func @a_choice_between_equal_values_is_none(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = graph.exp %arg1
  // CHECK-NEXT: return %[[E]]
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.exp %x : tensor<4xf32>
  %2 = graph.select %c, %0, %1 : tensor<4xi1>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @one_and_zero_as_numbers_stay_a_choice
func.func @one_and_zero_as_numbers_stay_a_choice(%c: tensor<4xi1>) -> tensor<4xi32> {
  // CHECK: graph.select %arg0
  %one = graph.constant dense<1> : tensor<4xi32>
  %zero = graph.constant dense<0> : tensor<4xi32>
  %0 = graph.select %c, %one, %zero : tensor<4xi1>, tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @a_choice_between_true_and_an_unknown_truth_stays
func.func @a_choice_between_true_and_an_unknown_truth_stays(%c: tensor<4xi1>, %d: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: graph.select %arg0, %{{.*}}, %arg1
  %yes = graph.constant dense<true> : tensor<4xi1>
  %0 = graph.select %c, %yes, %d : tensor<4xi1>, tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @a_negated_condition_exchanges_the_choices
func.func @a_negated_condition_exchanges_the_choices(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.select %arg0, %arg2, %arg1
  // CHECK-NEXT: return %[[S]]
  %n = graph.not %c : tensor<4xi1>
  %0 = graph.select %n, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @negations_cancel_of_truths_and_of_bits
func.func @negations_cancel_of_truths_and_of_bits(%c: tensor<4xi1>, %x: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  // CHECK-NEXT: return %arg0, %arg1
  %0 = graph.not %c : tensor<4xi1>
  %1 = graph.not %0 : tensor<4xi1>
  %2 = graph.not %x : tensor<4xi32>
  %3 = graph.not %2 : tensor<4xi32>
  return %1, %3 : tensor<4xi1>, tensor<4xi32>
}

// CHECK-LABEL: @a_negated_comparison_of_integers_is_the_opposite_one
func.func @a_negated_comparison_of_integers_is_the_opposite_one(%x: tensor<4xi64>, %y: tensor<4xi64>)
    -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[EQ:.*]] = graph.compare eq %arg0, %arg1
  // CHECK-DAG: %[[NE:.*]] = graph.compare ne %arg0, %arg1
  // CHECK-DAG: %[[LT:.*]] = graph.compare lt %arg0, %arg1
  // CHECK-DAG: %[[LE:.*]] = graph.compare le %arg0, %arg1
  // CHECK-DAG: %[[GT:.*]] = graph.compare gt %arg0, %arg1
  // CHECK-DAG: %[[GE:.*]] = graph.compare ge %arg0, %arg1
  // CHECK: return %[[NE]], %[[EQ]], %[[GE]], %[[GT]], %[[LE]], %[[LT]]
  %0 = graph.compare eq %x, %y : tensor<4xi64>
  %1 = graph.compare ne %x, %y : tensor<4xi64>
  %2 = graph.compare lt %x, %y : tensor<4xi64>
  %3 = graph.compare le %x, %y : tensor<4xi64>
  %4 = graph.compare gt %x, %y : tensor<4xi64>
  %5 = graph.compare ge %x, %y : tensor<4xi64>
  %n0 = graph.not %0 : tensor<4xi1>
  %n1 = graph.not %1 : tensor<4xi1>
  %n2 = graph.not %2 : tensor<4xi1>
  %n3 = graph.not %3 : tensor<4xi1>
  %n4 = graph.not %4 : tensor<4xi1>
  %n5 = graph.not %5 : tensor<4xi1>
  return %n0, %n1, %n2, %n3, %n4, %n5 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// NaN is neither less than a number nor greater or equal.
// CHECK-LABEL: @a_negated_comparison_of_floats_stays
func.func @a_negated_comparison_of_floats_stays(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[C:.*]] = graph.compare lt %arg0, %arg1
  // CHECK-NEXT: %[[N:.*]] = graph.not %[[C]]
  // CHECK-NEXT: return %[[N]]
  %0 = graph.compare lt %x, %y : tensor<4xf32>
  %1 = graph.not %0 : tensor<4xi1>
  return %1 : tensor<4xi1>
}

// NaN does not equal itself.
// CHECK-LABEL: @a_float_is_compared_with_itself
func.func @a_float_is_compared_with_itself(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: graph.compare eq %arg0, %arg0
  %0 = graph.compare eq %x, %x : tensor<4xf32>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @a_comparison_that_both_choices_decide_alike_is_known
func.func @a_comparison_that_both_choices_decide_alike_is_known(%c: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[T:.*]] = graph.constant dense<true>
  // CHECK-DAG: %[[F:.*]] = graph.constant dense<false>
  // CHECK-DAG: %[[TS:.*]] = graph.broadcast %[[T]]
  // CHECK-DAG: %[[FS:.*]] = graph.broadcast %[[F]]
  // CHECK: return %[[TS]], %[[FS]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %0 = graph.select %c, %one, %two : tensor<4xi1>, tensor<4xf32>
  %1 = graph.compare lt %0, %three : tensor<4xf32>
  %2 = graph.compare eq %0, %three : tensor<4xf32>
  return %1, %2 : tensor<4xi1>, tensor<4xi1>
}

// A part of a table, as GPT-2 takes it from a mask for the longest sequence.
// CHECK-LABEL: @a_comparison_of_a_moved_choice_is_the_moved_condition
func.func @a_comparison_of_a_moved_choice_is_the_moved_condition(%c: tensor<6x6xi1>) -> (tensor<2x4x6xi1>, tensor<2x4x6xi1>) {
  // CHECK: %[[S:.*]] = graph.slice %arg0 dim 0 from 1 step 1 : tensor<6x6xi1> -> tensor<4x6xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[S]] to [1, 2] : tensor<4x6xi1> -> tensor<2x4x6xi1>
  // CHECK: %[[N:.*]] = graph.not %[[B]]
  // CHECK: return %[[B]], %[[N]]
  %one = graph.constant dense<1.0> : tensor<6x6xf32>
  %zero = graph.constant dense<0.0> : tensor<6x6xf32>
  %bound = graph.constant dense<0.0> : tensor<2x4x6xf32>
  %0 = graph.select %c, %one, %zero : tensor<6x6xi1>, tensor<6x6xf32>
  %1 = graph.slice %0 dim 0 from 1 step 1 : tensor<6x6xf32> -> tensor<4x6xf32>
  %2 = graph.broadcast %1 to [1, 2] : tensor<4x6xf32> -> tensor<2x4x6xf32>
  %3 = graph.compare ne %2, %bound : tensor<2x4x6xf32>
  %4 = graph.compare eq %2, %bound : tensor<2x4x6xf32>
  return %3, %4 : tensor<2x4x6xi1>, tensor<2x4x6xi1>
}

// CHECK-LABEL: @a_choice_with_an_unknown_value_is_compared
func.func @a_choice_with_an_unknown_value_is_compared(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: %[[S:.*]] = graph.select %arg0, %arg1
  // CHECK: graph.compare eq %[[S]]
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %0 = graph.select %c, %x, %zero : tensor<4xi1>, tensor<4xf32>
  %1 = graph.compare eq %0, %zero : tensor<4xf32>
  return %1 : tensor<4xi1>
}

// CHECK-LABEL: @a_choice_is_compared_with_an_unknown_bound
func.func @a_choice_is_compared_with_an_unknown_bound(%c: tensor<4xi1>, %bound: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: %[[S:.*]] = graph.select %arg0
  // CHECK: graph.compare eq %[[S]], %arg1
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %0 = graph.select %c, %one, %zero : tensor<4xi1>, tensor<4xf32>
  %1 = graph.compare eq %0, %bound : tensor<4xf32>
  return %1 : tensor<4xi1>
}
