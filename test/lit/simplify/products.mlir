// Products of matrices: what they read through, factors behind them, dims that stay merged.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @a_product_reads_a_transposed_batch_in_place
func.func @a_product_reads_a_transposed_batch_in_place(%x: tensor<5x2x3xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [1] x [0] contract [2] x [1]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.transpose %x by [1, 0, 2] : tensor<5x2x3xf32> -> tensor<2x5x3xf32>
  %1 = graph.dot_general %0, %y batch [0] x [0] contract [2] x [1] : tensor<2x5x3xf32>, tensor<2x3x4xf32> -> tensor<2x5x4xf32>
  return %1 : tensor<2x5x4xf32>
}

// CHECK-LABEL: @both_sides_are_read_through_at_once
func.func @both_sides_are_read_through_at_once(%x: tensor<3x5xf32>, %y: tensor<4x3xf32>) -> tensor<5x4xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [0] x [1]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.transpose %x by [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  %1 = graph.transpose %y by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %2 = graph.dot_general %0, %1 batch [] x [] contract [1] x [0] : tensor<5x3xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

// CHECK-LABEL: @one_side_is_read_through_where_the_other_is_reordered
func.func @one_side_is_read_through_where_the_other_is_reordered(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x5x4xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 by [1, 0, 2]
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %[[T]], %arg1 batch [] x [] contract [2] x [1]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.transpose %x by [1, 0, 2] : tensor<5x2x3xf32> -> tensor<2x5x3xf32>
  %1 = graph.transpose %y by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %2 = graph.dot_general %0, %1 batch [] x [] contract [2] x [0] : tensor<2x5x3xf32>, tensor<3x4xf32> -> tensor<2x5x4xf32>
  return %2 : tensor<2x5x4xf32>
}

// CHECK-LABEL: @a_factor_moves_behind_a_product_that_elementwise_ops_follow
func.func @a_factor_moves_behind_a_product_that_elementwise_ops_follow(%x: tensor<4x4xbf16>, %y: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  // CHECK: %[[D:.*]] = graph.dot_general %arg0, %arg1
  // CHECK: %[[S:.*]] = graph.mul %[[D]]
  // CHECK: graph.exp %[[S]]
  %a = graph.constant dense<0.25> : tensor<4x4xbf16>
  %xa = graph.mul %x, %a : tensor<4x4xbf16>
  %0 = graph.dot_general %xa, %y batch [] x [] contract [1] x [0] : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xbf16>
  %1 = graph.exp %0 : tensor<4x4xbf16>
  return %1 : tensor<4x4xbf16>
}

// The product may be beyond the greatest number of half precision.
// CHECK-LABEL: @a_factor_of_f16_stays_before_the_product
func.func @a_factor_of_f16_stays_before_the_product(%x: tensor<4x4xf16>, %y: tensor<4x4xf16>) -> tensor<4x4xf16> {
  // CHECK: %[[S:.*]] = graph.mul %arg0
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %[[S]], %arg1
  // CHECK-NEXT: graph.exp %[[D]]
  %a = graph.constant dense<0.25> : tensor<4x4xf16>
  %xa = graph.mul %x, %a : tensor<4x4xf16>
  %0 = graph.dot_general %xa, %y batch [] x [] contract [1] x [0] : tensor<4x4xf16>, tensor<4x4xf16> -> tensor<4x4xf16>
  %1 = graph.exp %0 : tensor<4x4xf16>
  return %1 : tensor<4x4xf16>
}

// CHECK-LABEL: @a_factor_stays_if_one_of_two_users_is_not_elementwise
func.func @a_factor_stays_if_one_of_two_users_is_not_elementwise(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[S:.*]] = graph.mul %arg0
  // CHECK: graph.dot_general %[[S]], %arg1
  %a = graph.constant dense<0.25> : tensor<4x4xf32>
  %xa = graph.mul %x, %a : tensor<4x4xf32>
  %0 = graph.dot_general %xa, %y batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = graph.exp %0 : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @factors_that_vary_stay
func.func @factors_that_vary_stay(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.mul %arg0, %arg2
  // CHECK-NEXT: graph.dot_general %[[S]], %arg1
  %xa = graph.mul %x, %a : tensor<4x4xf32>
  %0 = graph.dot_general %xa, %y batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = graph.exp %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: @heads_that_are_merged_differently_stay_merged
func.func @heads_that_are_merged_differently_stay_merged(%q: tensor<2x3x5x4xf32>, %k: tensor<3x2x6x4xf32>) -> tensor<6x5x6xf32> {
  // CHECK-DAG: %[[Q:.*]] = graph.reshape %arg0 : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  // CHECK-DAG: %[[K:.*]] = graph.reshape %arg1 : tensor<3x2x6x4xf32> -> tensor<6x6x4xf32>
  // CHECK: graph.dot_general %[[Q]], %[[K]] batch [0] x [0]
  %0 = graph.reshape %q : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %1 = graph.reshape %k : tensor<3x2x6x4xf32> -> tensor<6x6x4xf32>
  %2 = graph.dot_general %0, %1 batch [0] x [0] contract [2] x [2] : tensor<6x5x4xf32>, tensor<6x6x4xf32> -> tensor<6x5x6xf32>
  return %2 : tensor<6x5x6xf32>
}

// CHECK-LABEL: @contracted_dims_merged_alike_are_contracted_apart
func.func @contracted_dims_merged_alike_are_contracted_apart(%x: tensor<5x2x3xf32>, %w: tensor<2x3x4xf32>) -> tensor<5x4xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [1, 2] x [0, 1]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.reshape %x : tensor<5x2x3xf32> -> tensor<5x6xf32>
  %1 = graph.reshape %w : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %2 = graph.dot_general %0, %1 batch [] x [] contract [1] x [0] : tensor<5x6xf32>, tensor<6x4xf32> -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

// CHECK-LABEL: @free_dims_of_the_right_side_are_taken_apart
func.func @free_dims_of_the_right_side_are_taken_apart(%x: tensor<5x4xf32>, %w: tensor<4x2x3xf32>) -> tensor<5x2x3xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [1] x [0] : tensor<5x4xf32>, tensor<4x2x3xf32> -> tensor<5x2x3xf32>
  // CHECK-NEXT: return %[[D]]
  %0 = graph.reshape %w : tensor<4x2x3xf32> -> tensor<4x6xf32>
  %1 = graph.dot_general %x, %0 batch [] x [] contract [1] x [0] : tensor<5x4xf32>, tensor<4x6xf32> -> tensor<5x6xf32>
  %2 = graph.reshape %1 : tensor<5x6xf32> -> tensor<5x2x3xf32>
  return %2 : tensor<5x2x3xf32>
}

// CHECK-LABEL: @symbolic_batch_and_positions_are_taken_apart
func.func @symbolic_batch_and_positions_are_taken_apart(%x: tensor<?x?x4xf32, #graph.dims<["b", "s", ""]>>, %w: tensor<4x6xf32>) -> tensor<?x?x6xf32, #graph.dims<["b", "s", ""]>> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [2] x [0]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.reshape %x : tensor<?x?x4xf32, #graph.dims<["b", "s", ""]>> -> tensor<?x4xf32, #graph.dims<["b*s", ""]>>
  %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0] : tensor<?x4xf32, #graph.dims<["b*s", ""]>>, tensor<4x6xf32> -> tensor<?x6xf32, #graph.dims<["b*s", ""]>>
  %2 = graph.reshape %1 : tensor<?x6xf32, #graph.dims<["b*s", ""]>> -> tensor<?x?x6xf32, #graph.dims<["b", "s", ""]>>
  return %2 : tensor<?x?x6xf32, #graph.dims<["b", "s", ""]>>
}

// CHECK-LABEL: @a_dim_of_size_one_is_not_merged_with_another
func.func @a_dim_of_size_one_is_not_merged_with_another(%x: tensor<1x5x4xf32>, %w: tensor<4x6xf32>) -> tensor<5x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : tensor<1x5x4xf32> -> tensor<5x4xf32>
  // CHECK-NEXT: graph.dot_general %[[R]], %arg1
  %0 = graph.reshape %x : tensor<1x5x4xf32> -> tensor<5x4xf32>
  %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0] : tensor<5x4xf32>, tensor<4x6xf32> -> tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}

// CHECK-LABEL: @elementwise_ops_precede_the_merge_of_all_their_operands
func.func @elementwise_ops_precede_the_merge_of_all_their_operands(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<6x4xf32> {
  // CHECK-DAG: %[[B:.*]] = graph.broadcast %arg2 to [2] : tensor<4xf32> -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[P:.*]] = graph.mul %arg0, %arg1 : tensor<2x3x4xf32>
  // CHECK: %[[S:.*]] = graph.add %[[P]], %[[B]] : tensor<2x3x4xf32>
  // CHECK-NEXT: graph.reshape %[[S]] : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.reshape %y : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %2 = graph.mul %0, %1 : tensor<6x4xf32>
  %3 = graph.broadcast %b to [1] : tensor<4xf32> -> tensor<6x4xf32>
  %4 = graph.add %2, %3 : tensor<6x4xf32>
  return %4 : tensor<6x4xf32>
}

// CHECK-LABEL: @a_bias_of_the_merged_dim_keeps_the_merge_before
func.func @a_bias_of_the_merged_dim_keeps_the_merge_before(%x: tensor<2x3x4xf32>, %b: tensor<6xf32>) -> tensor<6x4xf32> {
  // CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 : tensor<2x3x4xf32> -> tensor<6x4xf32>
  // CHECK-DAG: %[[B:.*]] = graph.broadcast %arg1 to [0] : tensor<6xf32> -> tensor<6x4xf32>
  // CHECK: graph.add %[[X]], %[[B]] : tensor<6x4xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.broadcast %b to [0] : tensor<6xf32> -> tensor<6x4xf32>
  %2 = graph.add %0, %1 : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// CHECK-LABEL: @operands_merged_from_different_shapes_stay_merged
func.func @operands_merged_from_different_shapes_stay_merged(%x: tensor<2x3x4xf32>, %y: tensor<3x2x4xf32>) -> tensor<6x4xf32> {
  // CHECK: graph.mul {{.*}} : tensor<6x4xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.reshape %y : tensor<3x2x4xf32> -> tensor<6x4xf32>
  %2 = graph.mul %0, %1 : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// CHECK-LABEL: @a_freed_dim_that_was_not_the_first_is_moved_back
func.func @a_freed_dim_that_was_not_the_first_is_moved_back(%x: tensor<5x2x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<3x2x5x6xf32> {
  // CHECK: %[[X:.*]] = graph.broadcast %arg0 to [1, 2, 3] : tensor<5x2x4xf32> -> tensor<3x5x2x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %[[X]], %arg1 batch [2] x [0] contract [3] x [1] : tensor<3x5x2x4xf32>, tensor<2x4x6xf32> -> tensor<2x3x5x6xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %[[D]] by [1, 0, 2, 3]
  // CHECK-NEXT: return %[[T]]
  %0 = graph.broadcast %x to [1, 2, 3] : tensor<5x2x4xf32> -> tensor<3x5x2x4xf32>
  %1 = graph.broadcast %w to [1, 2, 3] : tensor<2x4x6xf32> -> tensor<3x2x4x6xf32>
  %2 = graph.dot_general %0, %1 batch [0, 2] x [0, 1] contract [3] x [2] : tensor<3x5x2x4xf32>, tensor<3x2x4x6xf32> -> tensor<3x2x5x6xf32>
  return %2 : tensor<3x2x5x6xf32>
}

// CHECK-LABEL: @a_right_side_that_is_repeated_along_a_free_dim_stays
func.func @a_right_side_that_is_repeated_along_a_free_dim_stays(%x: tensor<2x5x4xf32>, %w: tensor<2x4xf32>) -> tensor<2x5x6xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %arg1 to [0, 1] : tensor<2x4xf32> -> tensor<2x4x6xf32>
  // CHECK-NEXT: graph.dot_general %arg0, %[[B]] batch [0] x [0]
  %0 = graph.broadcast %w to [0, 1] : tensor<2x4xf32> -> tensor<2x4x6xf32>
  %1 = graph.dot_general %x, %0 batch [0] x [0] contract [2] x [1] : tensor<2x5x4xf32>, tensor<2x4x6xf32> -> tensor<2x5x6xf32>
  return %1 : tensor<2x5x6xf32>
}
