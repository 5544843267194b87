// Attention, what belongs to it, and rotary.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// Heads where a projection left them; the products read them through transposes.
// CHECK-LABEL: @scaled_products_with_a_softmax_between
func.func @scaled_products_with_a_softmax_between(%q: tensor<2x5x3x8xf32>, %k: tensor<2x6x3x8xf32>, %v: tensor<2x6x3x4xf32>) -> tensor<2x3x5x4xf32> {
  // CHECK: %[[Q:.*]] = graph.transpose %arg0 by [0, 2, 1, 3]
  // CHECK: %[[K:.*]] = graph.transpose %arg1 by [0, 2, 1, 3]
  // CHECK: %[[V:.*]] = graph.transpose %arg2 by [0, 2, 1, 3]
  // CHECK: %[[Y:.*]], %{{.*}} = graph.attention %[[Q]], %[[K]], %[[V]] {scale = 5.000000e-01 : f64}
  // CHECK: return %[[Y]]
  %two = graph.constant dense<2.0> : tensor<2x3x5x6xf32>
  %s = graph.dot_general %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : tensor<2x5x3x8xf32>, tensor<2x6x3x8xf32> -> tensor<2x3x5x6xf32>
  %d = graph.div %s, %two : tensor<2x3x5x6xf32>
  %p = graph.softmax %d dim 3 : tensor<2x3x5x6xf32>
  %y = graph.dot_general %p, %v batch [0, 1] x [0, 2] contract [3] x [1] : tensor<2x3x5x6xf32>, tensor<2x6x3x4xf32> -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

// CHECK-LABEL: @scales_of_queries_and_keys
func.func @scales_of_queries_and_keys(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {scale = 2.500000e-01 : f64}
  // CHECK-NEXT: return
  %half = graph.constant dense<0.5> : tensor<3x5x8xf32>
  %a = graph.mul %q, %half : tensor<3x5x8xf32>
  %b = graph.mul %k, %half : tensor<3x5x8xf32>
  %s = graph.dot_general %a, %b batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// A weight that is not summed over the keys is no attention.
// CHECK-LABEL: @a_softmax_over_queries_is_none
func.func @a_softmax_over_queries_is_none(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: graph.attention
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 1 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @repeated_heads_are_groups
func.func @repeated_heads_are_groups(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x4x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %kb = graph.broadcast %k to [0, 1, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %kr = graph.reshape %kb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %vb = graph.broadcast %v to [0, 1, 3, 4] : tensor<2x2x5x8xf32> -> tensor<2x2x2x5x8xf32>
  %vr = graph.reshape %vb : tensor<2x2x2x5x8xf32> -> tensor<2x4x5x8xf32>
  %s = graph.dot_general %q, %kr batch [0, 1] x [0, 1] contract [3] x [3] : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  %p = graph.softmax %s dim 3 : tensor<2x4x5x5xf32>
  %y = graph.dot_general %p, %vr batch [0, 1] x [0, 1] contract [3] x [2] : tensor<2x4x5x5xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @adding_nothing_or_minus_infinity_is_a_mask
func.func @adding_nothing_or_minus_infinity_is_a_mask(%q: tensor<3x5x8xf32>, %keep: tensor<5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: %[[M:.*]] = graph.reshape %arg1 : tensor<5xi1> -> tensor<1x1x5xi1>
  // CHECK: graph.attention %arg0, %arg0, %arg0 mask %[[M]] {scale = 1.000000e+00 : f64}
  %zero = graph.constant dense<0.0> : tensor<5xf32>
  %low = graph.constant dense<0xFF800000> : tensor<5xf32>
  %m = graph.select %keep, %zero, %low : tensor<5xi1>, tensor<5xf32>
  %b = graph.broadcast %m to [2] : tensor<5xf32> -> tensor<3x5x5xf32>
  %s = graph.dot_general %q, %q batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.add %s, %b : tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %q batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// A query of which all keys are padding attends to all of them alike: that is not what a mask says.
// CHECK-LABEL: @a_finite_padding_stays_a_bias
func.func @a_finite_padding_stays_a_bias(%q: tensor<3x5x8xf32>, %keep: tensor<5xi1>) -> tensor<3x5x8xf32> {
  // CHECK: graph.attention %arg0, %arg0, %arg0 bias
  %zero = graph.constant dense<0.0> : tensor<5xf32>
  %low = graph.constant dense<-3.0e38> : tensor<5xf32>
  %m = graph.select %keep, %zero, %low : tensor<5xi1>, tensor<5xf32>
  %b = graph.broadcast %m to [2] : tensor<5xf32> -> tensor<3x5x5xf32>
  %s = graph.dot_general %q, %q batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.add %s, %b : tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %q batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @counted_positions_are_causal
func.func @counted_positions_are_causal(%q: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %zero = graph.constant dense<0.0> : tensor<5x5xf32>
  %low = graph.constant dense<-3.0e38> : tensor<5x5xf32>
  %i = graph.iota dim 0 : tensor<5x5xi64>
  %j = graph.iota dim 1 : tensor<5x5xi64>
  %one = graph.constant dense<1> : tensor<5x5xi64>
  %next = graph.add %i, %one : tensor<5x5xi64>
  %later = graph.compare ge %j, %next : tensor<5x5xi64>
  %m = graph.select %later, %low, %zero : tensor<5x5xi1>, tensor<5x5xf32>
  %b = graph.broadcast %m to [1, 2] : tensor<5x5xf32> -> tensor<3x5x5xf32>
  %s = graph.dot_general %q, %q batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.add %s, %b : tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %q batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// One position more than causal: a mask like any other.
// CHECK-LABEL: @a_shifted_comparison_is_a_mask
func.func @a_shifted_comparison_is_a_mask(%q: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: graph.attention %arg0, %arg0, %arg0 mask {{.*}} {fill = -1.000000e+04 : f64, scale = 1.000000e+00 : f64}
  %low = graph.constant dense<-1.0e4> : tensor<3x5x5xf32>
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %one = graph.constant dense<1> : tensor<3x5x5xi64>
  %next = graph.add %i, %one : tensor<3x5x5xi64>
  %keep = graph.compare le %j, %next : tensor<3x5x5xi64>
  %s = graph.dot_general %q, %q batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %a = graph.select %keep, %s, %low : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %a dim 2 : tensor<3x5x5xf32>
  %y = graph.dot_general %p, %q batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// CHECK-LABEL: @symbolic_sizes
func.func @symbolic_sizes(%q: tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>>) -> tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>> {
  // CHECK-NEXT: graph.attention %arg0, %arg0, %arg0 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %s = graph.dot_general %q, %q batch [0, 1] x [0, 1] contract [3] x [3] : tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>>, tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>> -> tensor<?x3x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %p = graph.softmax %s dim 3 : tensor<?x3x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %y = graph.dot_general %p, %q batch [0, 1] x [0, 1] contract [3] x [2] : tensor<?x3x?x?xf32, #graph.dims<["b", "", "s", "s"]>>, tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>> -> tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>>
  return %y : tensor<?x3x?x8xf32, #graph.dims<["b", "", "s", ""]>>
}

// CHECK-LABEL: @rotary_by_halves
func.func @rotary_by_halves(%x: tensor<2x3x8xf32>, %c: tensor<2x3x8xf32>, %s: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: graph.rotary %arg0, %arg1, %arg2 : tensor<2x3x8xf32>
  // CHECK-NEXT: return
  %a = graph.slice %x dim 2 from 0 step 1 : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %b = graph.slice %x dim 2 from 4 step 1 : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %n = graph.neg %b : tensor<2x3x4xf32>
  %r = graph.concat %n, %a dim 2 : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x8xf32>
  %0 = graph.mul %x, %c : tensor<2x3x8xf32>
  %1 = graph.mul %r, %s : tensor<2x3x8xf32>
  %2 = graph.add %0, %1 : tensor<2x3x8xf32>
  return %2 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @rotary_of_neighbours_computed_apart
func.func @rotary_of_neighbours_computed_apart(%x: tensor<3x8xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // CHECK: graph.rotary %arg0, %{{.*}}, %{{.*}} {interleaved} : tensor<3x8xf32>
  // CHECK-NEXT: return
  %a = graph.slice %x dim 1 from 0 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 1 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %ac = graph.mul %a, %c : tensor<3x4xf32>
  %bs = graph.mul %b, %s : tensor<3x4xf32>
  %first = graph.sub %ac, %bs : tensor<3x4xf32>
  %as = graph.mul %a, %s : tensor<3x4xf32>
  %bc = graph.mul %b, %c : tensor<3x4xf32>
  %second = graph.add %as, %bc : tensor<3x4xf32>
  %f = graph.reshape %first : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %g = graph.reshape %second : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %j = graph.concat %f, %g dim 2 : tensor<3x4x1xf32>, tensor<3x4x1xf32> -> tensor<3x4x2xf32>
  %y = graph.reshape %j : tensor<3x4x2xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The minus on the other half turns the other way.
// CHECK-LABEL: @a_turn_backwards_is_no_rotary
func.func @a_turn_backwards_is_no_rotary(%x: tensor<2x3x8xf32>, %c: tensor<2x3x8xf32>, %s: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NOT: graph.rotary
  %a = graph.slice %x dim 2 from 0 step 1 : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %b = graph.slice %x dim 2 from 4 step 1 : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %n = graph.neg %a : tensor<2x3x4xf32>
  %r = graph.concat %b, %n dim 2 : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x8xf32>
  %0 = graph.mul %x, %c : tensor<2x3x8xf32>
  %1 = graph.mul %r, %s : tensor<2x3x8xf32>
  %2 = graph.add %0, %1 : tensor<2x3x8xf32>
  return %2 : tensor<2x3x8xf32>
}

// Rows without any key are zero, as PyTorch's decompositions say it.
// CHECK-LABEL: @rows_of_nothing_but_minus_infinity_are_zero
func.func @rows_of_nothing_but_minus_infinity_are_zero(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 mask %arg3 {safe, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %least = graph.constant dense<0xFF800000> : tensor<3x5x5xf32>
  %zeros = graph.constant dense<0.0> : tensor<3x5x5xf32>
  %none = graph.constant dense<0> : tensor<3x5x1xi32>
  %d = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %s = graph.select %m, %d, %least : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %0 = graph.compare eq %s, %least : tensor<3x5x5xf32>
  %1 = graph.not %0 : tensor<3x5x5xi1>
  %2 = graph.cast %1 : tensor<3x5x5xi1> -> tensor<3x5x5xi32>
  %3 = graph.reduce max %2 over [2] : tensor<3x5x5xi32> -> tensor<3x5xi32>
  %4 = graph.reshape %3 : tensor<3x5xi32> -> tensor<3x5x1xi32>
  %5 = graph.compare ne %4, %none : tensor<3x5x1xi32>
  %6 = graph.not %5 : tensor<3x5x1xi1>
  %7 = graph.reshape %6 : tensor<3x5x1xi1> -> tensor<3x5xi1>
  %8 = graph.broadcast %7 to [0, 1] : tensor<3x5xi1> -> tensor<3x5x5xi1>
  %w = graph.select %8, %zeros, %p : tensor<3x5x5xi1>, tensor<3x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
}

// Dropped where heads and batch are apart; the weights' order is the same.
// CHECK-LABEL: @weights_behind_dropout
func.func @weights_behind_dropout(%q: tensor<6x5x8xf32>, %k: tensor<6x5x8xf32>, %v: tensor<6x5x8xf32>) -> tensor<6x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {dropout = 1.000000e-01 : f64, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<6x5x8xf32>, tensor<6x5x8xf32> -> tensor<6x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<6x5x5xf32>
  %a = graph.reshape %p : tensor<6x5x5xf32> -> tensor<2x3x5x5xf32>
  %d = graph.dropout %a {rate = 0.1 : f64} : tensor<2x3x5x5xf32>
  %w = graph.reshape %d : tensor<2x3x5x5xf32> -> tensor<6x5x5xf32>
  %y = graph.dot_general %w, %v batch [0] x [0] contract [2] x [1] : tensor<6x5x5xf32>, tensor<6x5x8xf32> -> tensor<6x5x8xf32>
  return %y : tensor<6x5x8xf32>
}

// What the other one sees is what was dropped here.
// CHECK-LABEL: @dropped_weights_for_two_are_left_alone
func.func @dropped_weights_for_two_are_left_alone(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x5xf32>) {
  // CHECK-NOT: graph.attention
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<3x5x8xf32>, tensor<3x5x8xf32> -> tensor<3x5x5xf32>
  %p = graph.softmax %s dim 2 : tensor<3x5x5xf32>
  %d = graph.dropout %p {rate = 0.1 : f64} : tensor<3x5x5xf32>
  %y = graph.dot_general %d, %v batch [0] x [0] contract [2] x [1] : tensor<3x5x5xf32>, tensor<3x5x8xf32> -> tensor<3x5x8xf32>
  return %y, %d : tensor<3x5x8xf32>, tensor<3x5x5xf32>
}

// Each drops elements of its own: so do two attentions, but not two that drop nothing.
// CHECK-LABEL: @what_drops_is_equal_to_nothing
func.func @what_drops_is_equal_to_nothing(%x: tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) {
  // CHECK-COUNT-2: graph.dropout
  // CHECK-COUNT-2: graph.attention {{.*}}dropout
  // CHECK: graph.attention
  // CHECK-NOT: graph.attention
  %0 = graph.dropout %x {rate = 0.1 : f64} : tensor<3x5x8xf32>
  %1 = graph.dropout %x {rate = 0.1 : f64} : tensor<3x5x8xf32>
  %2, %lse_2 = graph.attention %x, %x, %x {scale = 1.0 : f64, dropout = 0.1 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %3, %lse_3 = graph.attention %x, %x, %x {scale = 1.0 : f64, dropout = 0.1 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %4, %lse_4 = graph.attention %x, %x, %x {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %5, %lse_5 = graph.attention %x, %x, %x {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %0, %1, %2, %3, %4, %5 : tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>
}

// CHECK-LABEL: @symbols_stay_symbols_behind_masks_and_dropout(
func.func @symbols_stay_symbols_behind_masks_and_dropout(%q: tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>>, %k: tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>>, %p: tensor<?x?xi64, #graph.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>> {
  // CHECK: %[[Q:.*]] = graph.reshape %arg0
  // CHECK: %[[M:.*]] = graph.reshape %{{.*}} -> tensor<?x1x1x?xi1, #graph.dims<["b", "", "", "s"]>>
  // CHECK-NEXT: graph.attention %[[Q]], %{{.*}}, %{{.*}} mask %[[M]] {causal, dropout = 1.000000e-01 : f64, scale
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>>, tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>> -> tensor<?x?x?xf32, #graph.dims<["4*b", "s", "s"]>>
  %r = graph.reshape %s : tensor<?x?x?xf32, #graph.dims<["4*b", "s", "s"]>> -> tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %zero = graph.constant dense<0> : tensor<i64>
  %zeros = graph.broadcast %zero to [] : tensor<i64> -> tensor<?x?xi64, #graph.dims<["b", "s"]>>
  %c = graph.compare ne %p, %zeros : tensor<?x?xi64, #graph.dims<["b", "s"]>>
  %m = graph.broadcast %c to [0, 3] : tensor<?x?xi1, #graph.dims<["b", "s"]>> -> tensor<?x4x?x?xi1, #graph.dims<["b", "", "s", "s"]>>
  %i = graph.iota dim 0 : tensor<?x?xi64, #graph.dims<["s", "s"]>>
  %j = graph.iota dim 1 : tensor<?x?xi64, #graph.dims<["s", "s"]>>
  %le = graph.compare le %j, %i : tensor<?x?xi64, #graph.dims<["s", "s"]>>
  %cm = graph.broadcast %le to [2, 3] : tensor<?x?xi1, #graph.dims<["s", "s"]>> -> tensor<?x4x?x?xi1, #graph.dims<["b", "", "s", "s"]>>
  %both = graph.and %m, %cm : tensor<?x4x?x?xi1, #graph.dims<["b", "", "s", "s"]>>
  %inf = graph.constant dense<0xFF800000> : tensor<f32>
  %infs = graph.broadcast %inf to [] : tensor<f32> -> tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %masked = graph.select %both, %r, %infs : tensor<?x4x?x?xi1, #graph.dims<["b", "", "s", "s"]>>, tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %w = graph.softmax %masked dim 3 : tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %d = graph.dropout %w {rate = 0.1 : f64} : tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>>
  %x = graph.reshape %d : tensor<?x4x?x?xf32, #graph.dims<["b", "", "s", "s"]>> -> tensor<?x?x?xf32, #graph.dims<["4*b", "s", "s"]>>
  %y = graph.dot_general %x, %k batch [0] x [0] contract [2] x [1] : tensor<?x?x?xf32, #graph.dims<["4*b", "s", "s"]>>, tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>> -> tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>>
  return %y : tensor<?x?x8xf32, #graph.dims<["4*b", "s", ""]>>
}
