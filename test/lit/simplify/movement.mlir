// Moves that cancel or become one.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// Attention as PyTorch's exporter writes the key's transpose: batch and heads are merged for it and split again.
// CHECK-LABEL: @a_transpose_inside_merged_dims_leaves_batch_and_heads_apart
func.func @a_transpose_inside_merged_dims_leaves_batch_and_heads_apart(%k: tensor<2x4x16x8xf32>) -> tensor<2x4x8x16xf32> {
  // CHECK-NEXT: graph.transpose %arg0 by [0, 1, 3, 2]
  // CHECK-NEXT: return
  %0 = graph.reshape %k : tensor<2x4x16x8xf32> -> tensor<8x16x8xf32>
  %1 = graph.transpose %0 by [0, 2, 1] : tensor<8x16x8xf32> -> tensor<8x8x16xf32>
  %2 = graph.reshape %1 : tensor<8x8x16xf32> -> tensor<2x4x8x16xf32>
  return %2 : tensor<2x4x8x16xf32>
}

// CHECK-LABEL: @rows_counted_from_zero_are_a_slice
func.func @rows_counted_from_zero_are_a_slice(%table: tensor<24x32xf32>) -> tensor<1x16x32xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 dim 0 from 0 step 1 : tensor<24x32xf32> -> tensor<16x32xf32>
  // CHECK-NEXT: graph.reshape %[[S]]
  %0 = graph.iota dim 0 : tensor<16xi64>
  %1 = graph.reshape %0 : tensor<16xi64> -> tensor<1x16xi64>
  %2 = graph.gather %table at %1 dim 0 : tensor<24x32xf32>, tensor<1x16xi64> -> tensor<1x16x32xf32>
  return %2 : tensor<1x16x32xf32>
}

// CHECK-LABEL: @rows_counted_beyond_the_table_stay_a_gather
func.func @rows_counted_beyond_the_table_stay_a_gather(%table: tensor<8x32xf32>) -> tensor<16x32xf32> {
  // CHECK: graph.gather
  %0 = graph.iota dim 0 : tensor<16xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<8x32xf32>, tensor<16xi64> -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// CHECK-LABEL: @a_slice_of_a_slice_is_one
func.func @a_slice_of_a_slice_is_one(%x: tensor<20xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: graph.slice %arg0 dim 0 from 5 step 6 : tensor<20xf32> -> tensor<3xf32>
  %0 = graph.slice %x dim 0 from 1 step 2 : tensor<20xf32> -> tensor<9xf32>
  %1 = graph.slice %0 dim 0 from 2 step 3 : tensor<9xf32> -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @a_piece_of_a_concat_is_the_operand
func.func @a_piece_of_a_concat_is_the_operand(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: return %arg1
  %0 = graph.concat %a, %b dim 1 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<2x7xf32>
  %1 = graph.slice %0 dim 1 from 3 step 1 : tensor<2x7xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @moving_dims_of_size_one_is_a_reshape
func.func @moving_dims_of_size_one_is_a_reshape(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  // CHECK-NEXT: graph.reshape
  %0 = graph.transpose %x by [1, 0, 2] : tensor<2x1x3xf32> -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

// CHECK-LABEL: @a_product_reads_transposed_weights_where_they_lie
func.func @a_product_reads_transposed_weights_where_they_lie(%x: tensor<2x5x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x5x4xf32> {
  // CHECK-NEXT: graph.dot_general %arg0, %arg1 batch [] x [] contract [2] x [1]
  %0 = graph.transpose %w by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %1 = graph.dot_general %x, %0 batch [] x [] contract [2] x [0] : tensor<2x5x3xf32>, tensor<3x4xf32> -> tensor<2x5x4xf32>
  return %1 : tensor<2x5x4xf32>
}

// CHECK-LABEL: @a_transpose_that_reorders_the_result_stays
func.func @a_transpose_that_reorders_the_result_stays(%x: tensor<5x2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x5x4xf32> {
  // CHECK-NEXT: graph.transpose
  %0 = graph.transpose %x by [1, 0, 2] : tensor<5x2x3xf32> -> tensor<2x5x3xf32>
  %1 = graph.dot_general %0, %w batch [] x [] contract [2] x [0] : tensor<2x5x3xf32>, tensor<3x4xf32> -> tensor<2x5x4xf32>
  return %1 : tensor<2x5x4xf32>
}
