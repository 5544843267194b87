// What belongs to an attention op is moved into it: factors, shared heads, masks and causality.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @factors_of_queries_and_keys_multiply_the_scale
func.func @factors_of_queries_and_keys_multiply_the_scale(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 3.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %two = graph.constant dense<2.0> : tensor<3x5x8xf32>
  %four = graph.constant dense<4.0> : tensor<3x5x8xf32>
  %a = graph.mul %two, %q : tensor<3x5x8xf32>
  %b = graph.div %k, %four : tensor<3x5x8xf32>
  %y, %lse_y = graph.attention %a, %b, %v {scale = 6.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_factor_of_the_values_stays
func.func @a_factor_of_the_values_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: %[[V:.*]] = graph.mul %arg2
  // CHECK: graph.attention %arg0, %arg1, %[[V]] {scale = 1.000000e+00 : f64}
  %two = graph.constant dense<2.0> : tensor<3x5x8xf32>
  %a = graph.mul %v, %two : tensor<3x5x8xf32>
  %y, %lse_y = graph.attention %q, %k, %a {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_factor_that_varies_stays
func.func @a_factor_that_varies_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %t: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: %[[Q:.*]] = graph.mul %arg0, %arg3
  // CHECK: graph.attention %[[Q]], %arg1, %arg2 {scale = 1.000000e+00 : f64}
  %a = graph.mul %q, %t : tensor<3x5x8xf32>
  %y, %lse_y = graph.attention %a, %k, %v {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_factor_before_a_reversal_is_taken
func.func @a_factor_before_a_reversal_is_taken(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Q:.*]] = graph.reverse %arg0 dim 1
  // CHECK-NEXT: graph.attention %[[Q]], %arg1, %arg1 {scale = 2.000000e+00 : f64}
  %two = graph.constant dense<2.0> : tensor<3x5x8xf32>
  %0 = graph.mul %q, %two : tensor<3x5x8xf32>
  %a = graph.reverse %0 dim 1 : tensor<3x5x8xf32>
  %y, %lse_y = graph.attention %a, %k, %k {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_factor_before_a_transpose_is_taken
func.func @a_factor_before_a_transpose_is_taken(%q: tensor<5x3x8xf32>, %k: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Q:.*]] = graph.transpose %arg0 by [1, 0, 2]
  // CHECK-NEXT: graph.attention %[[Q]], %arg1, %arg1 {scale = 2.000000e+00 : f64}
  %two = graph.constant dense<2.0> : tensor<5x3x8xf32>
  %0 = graph.mul %q, %two : tensor<5x3x8xf32>
  %1 = graph.transpose %0 by [1, 0, 2] : tensor<5x3x8xf32> -> tensor<3x5x8xf32>
  %y, %lse_y = graph.attention %1, %k, %k {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// Queries may be scaled so that their products are in the range of half precision.
// CHECK-LABEL: @a_factor_of_f16_stays
func.func @a_factor_of_f16_stays(%q: tensor<3x5x8xf16>) -> tensor<3x5x8xf16> {
  // CHECK: %[[Q:.*]] = graph.mul %arg0
  // CHECK: graph.attention %[[Q]], %arg0, %arg0 {scale = 1.000000e+00 : f64}
  %half = graph.constant dense<0.5> : tensor<3x5x8xf16>
  %0 = graph.mul %q, %half : tensor<3x5x8xf16>
  %y, %lse_y = graph.attention %0, %q, %q {scale = 1.0 : f64} : (tensor<3x5x8xf16>, tensor<3x5x8xf16>, tensor<3x5x8xf16>) -> (tensor<3x5x8xf16>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf16>
}

// CHECK-LABEL: @heads_repeated_side_by_side_are_shared
func.func @heads_repeated_side_by_side_are_shared(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %whole: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2
  %kb = graph.broadcast %k to [0, 1, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %kr = graph.reshape %kb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %vb = graph.broadcast %v to [0, 1, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %vr = graph.reshape %vb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %y, %lse_y = graph.attention %q, %kr, %vr {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return %y : tensor<2x4x5x8xf32>
}

// Heads 0 and 1 would be read for heads 0 and 2.
// CHECK-LABEL: @all_heads_repeated_as_a_whole_stay
func.func @all_heads_repeated_as_a_whole_stay(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %whole: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  // CHECK-COUNT-2: graph.reshape {{.*}} -> tensor<2x4x5x8xf32>
  // CHECK: graph.attention %arg0, %{{[0-9]+}}, %{{[0-9]+}}
  %kb = graph.broadcast %k to [0, 2, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %kr = graph.reshape %kb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %vb = graph.broadcast %v to [0, 2, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %vr = graph.reshape %vb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %y, %lse_y = graph.attention %q, %kr, %vr {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @keys_alone_do_not_share_heads
func.func @keys_alone_do_not_share_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %whole: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  // CHECK: %[[K:.*]] = graph.reshape
  // CHECK: graph.attention %arg0, %[[K]], %arg3
  %kb = graph.broadcast %k to [0, 1, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %kr = graph.reshape %kb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %y, %lse_y = graph.attention %q, %kr, %whole {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @a_bias_of_zero_vanishes
func.func @a_bias_of_zero_vanishes(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %zero {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_bias_of_minus_infinity_where_a_flag_is_set_is_the_opposite_mask
func.func @a_bias_of_minus_infinity_where_a_flag_is_set_is_the_opposite_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.not %arg3
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] {scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %b = graph.select %m, %least, %zero : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_bias_of_plus_infinity_stays
func.func @a_bias_of_plus_infinity_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: graph.attention %arg0, %arg1, %arg2 bias
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %most = graph.constant dense<0x7F800000> : tensor<3x5x5xf32>
  %b = graph.select %m, %zero, %most : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_bias_between_two_numbers_stays
func.func @a_bias_between_two_numbers_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: graph.attention %arg0, %arg1, %arg2 bias
  %one = graph.constant dense<1.0> : tensor<3x5x5xf32>
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %b = graph.select %m, %one, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// Scores may differ by more than 10000.
// CHECK-LABEL: @a_small_causal_bias_stays
func.func @a_small_causal_bias_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: graph.attention %arg0, %arg1, %arg2 bias
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %low = graph.constant dense<-1.0e4> : tensor<3x5x5xf32>
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare le %j, %i : tensor<3x5x5xi64>
  %b = graph.select %m, %zero, %low : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_and_a_bias_of_minus_infinity_are_a_conjunction
func.func @a_mask_and_a_bias_of_minus_infinity_are_a_conjunction(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>, %n: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.and %arg{{[34]}}, %arg{{[34]}}
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] {scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %b = graph.select %m, %zero, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y, %lse_y = graph.attention %q, %k, %v bias %b mask %n {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @keys_up_to_the_query_are_causal
func.func @keys_up_to_the_query_are_causal(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare le %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @queries_from_the_key_on_are_causal
func.func @queries_from_the_key_on_are_causal(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare ge %i, %j : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @keys_before_the_next_query_are_causal
func.func @keys_before_the_next_query_are_causal(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %one = graph.constant dense<1> : tensor<3x5x5xi64>
  %n = graph.add %i, %one : tensor<3x5x5xi64>
  %m = graph.compare lt %j, %n : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// A query does not see itself.
// CHECK-LABEL: @keys_before_the_query_are_a_mask
func.func @keys_before_the_query_are_a_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: causal
  // CHECK: graph.attention {{.*}} mask
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare lt %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @keys_from_the_query_on_are_a_mask
func.func @keys_from_the_query_on_are_a_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: causal
  // CHECK: graph.attention {{.*}} mask
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare ge %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @the_query_alone_is_a_mask
func.func @the_query_alone_is_a_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: causal
  // CHECK: graph.attention {{.*}} mask
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare eq %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @positions_of_the_batch_are_not_those_of_queries
func.func @positions_of_the_batch_are_not_those_of_queries(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: causal
  // CHECK: graph.attention {{.*}} mask
  %i = graph.iota dim 0 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare le %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_causal_mask_and_another_one_are_told_apart
func.func @a_causal_mask_and_another_one_are_told_apart(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %keep: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 mask %arg3 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %c = graph.compare le %j, %i : tensor<3x5x5xi64>
  %m = graph.and %c, %keep : tensor<3x5x5xi1>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_causal_mask_or_another_one_is_a_mask
func.func @a_causal_mask_or_another_one_is_a_mask(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %keep: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.or
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] {scale = 1.000000e+00 : f64}
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %c = graph.compare le %j, %i : tensor<3x5x5xi64>
  %m = graph.or %c, %keep : tensor<3x5x5xi1>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_of_all_keys_vanishes_with_its_fill
func.func @a_mask_of_all_keys_vanishes_with_its_fill(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %m = graph.constant dense<true> : tensor<3x5x5xi1>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64, fill = -1.0e4 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_low_fill_of_a_causal_mask_has_no_effect
func.func @a_low_fill_of_a_causal_mask_has_no_effect(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare le %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64, fill = -1.0e30 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_small_fill_of_a_causal_mask_stays
func.func @a_small_fill_of_a_causal_mask_stays(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, fill = -1.000000e+04 : f64, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %m = graph.compare le %j, %i : tensor<3x5x5xi64>
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64, fill = -1.0e4 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// A part of a table for longer sequences, as GPT-2 keeps it.
// CHECK-LABEL: @the_first_rows_and_columns_of_a_causal_table_are_causal
func.func @the_first_rows_and_columns_of_a_causal_table_are_causal(%q: tensor<3x2x8xf32>) -> tensor<3x2x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %table = graph.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %0 = graph.slice %table dim 1 from 0 step 1 : tensor<1x3x3xi1> -> tensor<1x2x3xi1>
  %1 = graph.slice %0 dim 2 from 0 step 1 : tensor<1x2x3xi1> -> tensor<1x2x2xi1>
  %2 = graph.reshape %1 : tensor<1x2x2xi1> -> tensor<2x2xi1>
  %m = graph.broadcast %2 to [1, 2] : tensor<2x2xi1> -> tensor<3x2x2xi1>
  %y, %lse_y = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<3x2x8xf32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>, tensor<3x2x2xi1>) -> (tensor<3x2x8xf32>, tensor<3x2xf32>)
  return %y : tensor<3x2x8xf32>
}

// CHECK-LABEL: @later_rows_of_a_causal_table_are_a_mask
func.func @later_rows_of_a_causal_table_are_a_mask(%q: tensor<3x2x8xf32>, %k: tensor<3x3x8xf32>) -> tensor<3x2x8xf32> {
  // CHECK-NOT: causal,
  // CHECK: graph.attention {{.*}} mask
  %i = graph.iota dim 1 : tensor<3x3x3xi64>
  %j = graph.iota dim 2 : tensor<3x3x3xi64>
  %c = graph.compare le %j, %i : tensor<3x3x3xi64>
  %m = graph.slice %c dim 1 from 1 step 1 : tensor<3x3x3xi1> -> tensor<3x2x3xi1>
  %y, %lse_y = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64} : (tensor<3x2x8xf32>, tensor<3x3x8xf32>, tensor<3x3x8xf32>, tensor<3x2x3xi1>) -> (tensor<3x2x8xf32>, tensor<3x2xf32>)
  return %y : tensor<3x2x8xf32>
}

// CHECK-LABEL: @without_a_mask_every_weight_is_a_number
func.func @without_a_mask_every_weight_is_a_number(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %y, %lse_y = graph.attention %q, %k, %v {scale = 1.0 : f64, safe, causal} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @with_a_mask_a_weight_may_be_none
func.func @with_a_mask_a_weight_may_be_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 mask %arg3 {safe, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %y, %lse_y = graph.attention %q, %k, %v mask %m {scale = 1.0 : f64, safe} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @with_a_bias_a_weight_may_be_none
func.func @with_a_bias_a_weight_may_be_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %b: tensor<3x5x5xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.attention %arg0, %arg1, %arg2 bias %arg3 {safe, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %y, %lse_y = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64, safe} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_mask_is_not_repeated_for_heads_and_queries(
func.func @a_mask_is_not_repeated_for_heads_and_queries(%q: tensor<2x3x5x8xf32>, %p: tensor<2x5xi64>) -> tensor<2x3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.reshape %{{.*}} -> tensor<2x1x1x5xi1>
  // CHECK: graph.attention %arg0, %arg0, %arg0 mask %[[M]] {scale
  %zero = graph.constant dense<0> : tensor<i64>
  %zeros = graph.broadcast %zero to [] : tensor<i64> -> tensor<2x5xi64>
  %counts = graph.compare ne %p, %zeros : tensor<2x5xi64>
  %m = graph.broadcast %counts to [0, 3] : tensor<2x5xi1> -> tensor<2x3x5x5xi1>
  %y, %lse_y = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x5xi1>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>)
  return %y : tensor<2x3x5x8xf32>
}

// CHECK-LABEL: @a_bias_is_not_repeated_behind_arithmetic_and_moves(
func.func @a_bias_is_not_repeated_behind_arithmetic_and_moves(%q: tensor<2x3x5x8xf32>, %b: tensor<3x5xf32>) -> tensor<2x3x5x8xf32> {
  // CHECK: %[[B:.*]] = graph.exp %{{.*}} : tensor<1x3x1x5xf32>
  // CHECK: graph.attention %arg0, %arg0, %arg0 bias %[[B]] {scale
  %0 = graph.broadcast %b to [1, 3] : tensor<3x5xf32> -> tensor<2x3x5x5xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %ones = graph.broadcast %one to [] : tensor<f32> -> tensor<2x3x5x5xf32>
  %1 = graph.sub %ones, %0 : tensor<2x3x5x5xf32>
  %2 = graph.exp %1 : tensor<2x3x5x5xf32>
  %y, %lse_y = graph.attention %q, %q, %q bias %2 {scale = 1.0 : f64} : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x5xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>)
  return %y : tensor<2x3x5x8xf32>
}

// A causal mask and one of padding: the first becomes a flag, the second keeps a row per sample.
// CHECK-LABEL: @masks_of_padding_and_causality_leave_no_table(
func.func @masks_of_padding_and_causality_leave_no_table(%q: tensor<2x3x5x8xf32>, %p: tensor<2x5xi1>) -> tensor<2x3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.reshape %{{.*}} -> tensor<2x1x1x5xi1>
  // CHECK: graph.attention %arg0, %arg0, %arg0 mask %[[M]] {causal, scale
  %i = graph.iota dim 0 : tensor<5x5xi64>
  %j = graph.iota dim 1 : tensor<5x5xi64>
  %c = graph.compare le %j, %i : tensor<5x5xi64>
  %0 = graph.broadcast %c to [2, 3] : tensor<5x5xi1> -> tensor<2x3x5x5xi1>
  %1 = graph.broadcast %p to [0, 3] : tensor<2x5xi1> -> tensor<2x3x5x5xi1>
  %m = graph.and %0, %1 : tensor<2x3x5x5xi1>
  %y, %lse_y = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x5xi1>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>)
  return %y : tensor<2x3x5x8xf32>
}
