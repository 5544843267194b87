// Attention by its two products and the ops between them, and what may not be between them.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @the_product_may_be_divided_and_multiplied
func.func @the_product_may_be_divided_and_multiplied(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %two = graph.constant dense<2.0> : tensor<3x5x5xf32>
  %four = graph.constant dense<4.0> : tensor<3x5x5xf32>
  %half = graph.constant dense<0.5> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.div %s, %four : tensor<3x5x5xf32>
  %b = graph.mul %a, %two : tensor<3x5x5xf32>
  %c = graph.div %b, %half : tensor<3x5x5xf32>
  %p = graph.softmax %c dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @what_is_added_to_the_scores_is_a_bias
func.func @what_is_added_to_the_scores_is_a_bias(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %bias: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 bias %arg3 {scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %half = graph.constant dense<0.5> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.mul %s, %half : tensor<3x5x5xf32>
  %b = graph.add %bias, %a : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @two_biases_are_added
func.func @two_biases_are_added(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %bias: tensor<3x5x5xf32>, %other: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.add %arg{{[34]}}, %arg{{[34]}}
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 bias %[[B]]
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %b = graph.add %s, %bias : tensor<3x5x5xf32>
  %c = graph.add %b, %other : tensor<3x5x5xf32>
  %p = graph.softmax %c dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// The op adds its bias to the scaled scores.
// CHECK-LABEL: @a_bias_that_is_scaled_with_the_scores_is_no_part_of_attention
func.func @a_bias_that_is_scaled_with_the_scores_is_no_part_of_attention(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %bias: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %half = graph.constant dense<0.5> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.add %s, %bias : tensor<3x5x5xf32>
  %b = graph.mul %a, %half : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @scores_divided_by_an_unknown_number_are_none
func.func @scores_divided_by_an_unknown_number_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %t: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.div %s, %t : tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// Gemma caps its scores like this.
// CHECK-LABEL: @a_nonlinearity_between_product_and_softmax_is_none
func.func @a_nonlinearity_between_product_and_softmax_is_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.tanh %s : tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @weights_that_are_scaled_are_none
func.func @weights_that_are_scaled_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %t: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %w = graph.mul %p, %t : tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_is_a_choice_between_scores_and_minus_infinity
func.func @a_mask_is_a_choice_between_scores_and_minus_infinity(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 mask %arg3 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_may_say_which_scores_do_not_count
func.func @a_mask_may_say_which_scores_do_not_count(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.not %arg3
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] {scale = 1.000000e+00 : f64}
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %least, %s : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @two_masks_are_a_conjunction
func.func @two_masks_are_a_conjunction(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %n: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.and %arg{{[34]}}, %arg{{[34]}}
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] {scale = 1.000000e+00 : f64}
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.select %n, %a, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @masks_with_two_numbers_are_none
func.func @masks_with_two_numbers_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %n: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %low = graph.constant dense<-1.0e4> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.select %n, %a, %low : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// The op fills after it adds.
// CHECK-LABEL: @a_finite_mask_may_not_be_followed_by_a_bias
func.func @a_finite_mask_may_not_be_followed_by_a_bias(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %bias: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %low = graph.constant dense<-1.0e4> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %low : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.add %a, %bias : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_bias_may_follow_a_mask_by_minus_infinity
func.func @a_bias_may_follow_a_mask_by_minus_infinity(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %bias: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 bias %arg4 mask %arg3 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.add %a, %bias : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @scores_replaced_by_an_unknown_tensor_are_none
func.func @scores_replaced_by_an_unknown_tensor_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %t: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %t : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @weights_of_nan_replaced_by_zero_are_safe
func.func @weights_of_nan_replaced_by_zero_are_safe(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 mask %arg3 {safe, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %n = graph.compare ne %p, %p : tensor<3x5x5xf32>
  %w = graph.select %n, %zero, %p : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @weights_of_nan_replaced_by_one_are_none
func.func @weights_of_nan_replaced_by_one_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %one = graph.constant dense<1.0> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %n = graph.compare ne %p, %p : tensor<3x5x5xf32>
  %w = graph.select %n, %one, %p : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @weights_replaced_where_an_input_says_so_are_none
func.func @weights_replaced_where_an_input_says_so_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %w = graph.select %m, %zero, %p : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @weights_dropped_twice_are_none
func.func @weights_dropped_twice_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %d = graph.dropout %p {rate = 0.1 : f64} : tensor<3x5x5xf32>
  %w = graph.dropout %d {rate = 0.1 : f64} : tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_softmax_in_single_precision_between_halves
func.func @a_softmax_in_single_precision_between_halves(%q: tensor<3x5x8xf16>, %k: tensor<3x5x8xf16>, %v: tensor<3x5x8xf16>) -> tensor<3x5x8xf16> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf16>, tensor<3x5x8xf16> -> tensor<3x5x5xf16>
  %w = graph.cast %s : tensor<3x5x5xf16> -> tensor<3x5x5xf32>
  %p = graph.softmax %w dim 2 : tensor<3x5x5xf32>
  %n = graph.cast %p : tensor<3x5x5xf32> -> tensor<3x5x5xf16>
  %y = graph.dot_general %n, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf16>, tensor<3x5x8xf16> -> tensor<3x5x8xf16>
  return %y : tensor<3x5x8xf16>
}

// CHECK-LABEL: @queries_and_values_of_two_precisions_are_none
func.func @queries_and_values_of_two_precisions_are_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf16>) -> tensor<3x5x8xf16> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %n = graph.cast %p : tensor<3x5x5xf32> -> tensor<3x5x5xf16>
  %y = graph.dot_general %n, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf16>, tensor<3x5x8xf16> -> tensor<3x5x8xf16>
  return %y : tensor<3x5x8xf16>
}

// CHECK-LABEL: @values_on_the_left_give_a_transposed_result
func.func @values_on_the_left_give_a_transposed_result(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x8x5xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %[[Y]] by [0, 2, 1]
  // CHECK-NEXT: return %[[T]]
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %v, %p batch [0] x [0] contract [1] x [2] : tensor<3x5x8xf32>, tensor<3x5x5xf32> -> tensor<3x8x5xf32>
  return %y : tensor<3x8x5xf32>
}

// One sequence without batch or heads.
// CHECK-LABEL: @products_without_a_batch_dim_are_none
func.func @products_without_a_batch_dim_are_none(%q: tensor<5x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [] x [] contract [1] x [1] : tensor<5x8xf32>, tensor<5x8xf32> -> tensor<5x5xf32>
  %p = graph.softmax %s dim 1 : tensor<5x5xf32>
  %y = graph.dot_general %p, %v batch [] x [] contract [1] x [0] : tensor<5x5xf32>, tensor<5x8xf32> -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// CHECK-LABEL: @weights_that_others_read_are_computed_for_them
func.func @weights_that_others_read_are_computed_for_them(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x5xf32>) {
  // CHECK-DAG: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2
  // CHECK-DAG: %[[P:.*]] = graph.softmax
  // CHECK: return %[[Y]], %[[P]]
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y, %p : tensor<3x5x8xf32>, tensor<3x5x5xf32>
}

// Multi-query attention as a product with fewer batch dims.
// CHECK-LABEL: @heads_may_share_keys_and_values
func.func @heads_may_share_keys_and_values(%q: tensor<2x3x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x3x5x4xf32> {
  // CHECK-DAG: %[[K:.*]] = graph.reshape %arg1 : tensor<2x7x8xf32> -> tensor<2x1x7x8xf32>
  // CHECK-DAG: %[[V:.*]] = graph.reshape %arg2 : tensor<2x7x4xf32> -> tensor<2x1x7x4xf32>
  // CHECK: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %s = graph.dot_general %q, %k batch [0] x [0] contract [3] x [2] : tensor<2x3x5x8xf32>, tensor<2x7x8xf32> -> tensor<2x3x5x7xf32>
  %p = graph.softmax %s dim 3 : tensor<2x3x5x7xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [3] x [1] : tensor<2x3x5x7xf32>, tensor<2x7x4xf32> -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

// CHECK-LABEL: @groups_of_heads_may_share_keys_and_values
func.func @groups_of_heads_may_share_keys_and_values(%q: tensor<2x3x6x5x8xf32>, %k: tensor<2x7x3x8xf32>, %v: tensor<2x3x4x7xf32>) -> tensor<2x3x4x6x5xf32> {
  // CHECK-DAG: %[[KT:.*]] = graph.transpose %arg1 by [0, 2, 1, 3]
  // CHECK-DAG: %[[K:.*]] = graph.reshape %[[KT]] : tensor<2x3x7x8xf32> -> tensor<2x3x1x7x8xf32>
  // CHECK-DAG: %[[VT:.*]] = graph.transpose %arg2 by [0, 1, 3, 2]
  // CHECK-DAG: %[[V:.*]] = graph.reshape %[[VT]] : tensor<2x3x7x4xf32> -> tensor<2x3x1x7x4xf32>
  // CHECK: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : {{.*}} -> (tensor<2x3x6x5x4xf32>,
  // CHECK: graph.transpose %[[Y]] by [0, 1, 4, 2, 3]
  %s = graph.dot_general %q, %k batch [0, 1] x [0, 2] contract [4] x [3] : tensor<2x3x6x5x8xf32>, tensor<2x7x3x8xf32> -> tensor<2x3x6x5x7xf32>
  %p = graph.softmax %s dim 4 : tensor<2x3x6x5x7xf32>
  %y = graph.dot_general %v, %p batch [0, 1] x [0, 1] contract [3] x [4] : tensor<2x3x4x7xf32>, tensor<2x3x6x5x7xf32> -> tensor<2x3x4x6x5xf32>
  return %y : tensor<2x3x4x6x5xf32>
}

// CHECK-LABEL: @heads_that_share_keys_alone_are_none
func.func @heads_that_share_keys_alone_are_none(%q: tensor<2x3x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x3x7x4xf32>) -> tensor<2x3x5x4xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [3] x [2] : tensor<2x3x5x8xf32>, tensor<2x7x8xf32> -> tensor<2x3x5x7xf32>
  %p = graph.softmax %s dim 3 : tensor<2x3x5x7xf32>
  %y = graph.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : tensor<2x3x5x7xf32>, tensor<2x3x7x4xf32> -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

// CHECK-LABEL: @scores_may_be_scaled_after_the_mask
func.func @scores_may_be_scaled_after_the_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>) {
  // CHECK-DAG: graph.attention %arg0, %arg1, %arg2 mask %arg3 {scale = 5.000000e-01 : f64}
  // CHECK-DAG: graph.attention %arg0, %arg1, %arg2 mask %arg3 {fill = -5.000000e+03 : f64, scale = 5.000000e-01 : f64}
  %half = graph.constant dense<0.5> : tensor<3x5x5xf32>
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %low = graph.constant dense<-1.0e4> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.mul %a, %half : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  %c = graph.select %m, %s, %low : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %d = graph.mul %c, %half : tensor<3x5x5xf32>
  %r = graph.softmax %d dim 2 : tensor<3x5x5xf32>
  %z = graph.dot_general %r, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y, %z : tensor<3x5x8xf32>, tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_that_becomes_infinity_is_none
func.func @a_mask_that_becomes_infinity_is_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: return
  %opposite = graph.constant dense<-0.5> : tensor<3x5x5xf32>
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %m, %s, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %b = graph.mul %a, %opposite : tensor<3x5x5xf32>
  %p = graph.softmax %b dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}
