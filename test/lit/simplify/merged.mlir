// Work on merged dims is done before they are merged.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// A linear layer as PyTorch decomposes it.
// CHECK-LABEL: @a_layer_on_a_matrix_of_all_positions
func.func @a_layer_on_a_matrix_of_all_positions(%x: tensor<8x16x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) -> tensor<8x16x6xf32> {
  // CHECK-DAG: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [2] x [1] : tensor<8x16x4xf32>, tensor<6x4xf32> -> tensor<8x16x6xf32>
  // CHECK-DAG: %[[B:.*]] = graph.broadcast %arg2 to [2] : tensor<6xf32> -> tensor<8x16x6xf32>
  // CHECK: %[[Y:.*]] = graph.add %[[D]], %[[B]] : tensor<8x16x6xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.reshape %x : tensor<8x16x4xf32> -> tensor<128x4xf32>
  %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [1] : tensor<128x4xf32>, tensor<6x4xf32> -> tensor<128x6xf32>
  %2 = graph.broadcast %b to [1] : tensor<6xf32> -> tensor<128x6xf32>
  %3 = graph.add %1, %2 : tensor<128x6xf32>
  %4 = graph.reshape %3 : tensor<128x6xf32> -> tensor<8x16x6xf32>
  return %4 : tensor<8x16x6xf32>
}

// Heads side by side are the layer's inputs, which stay merged.
// CHECK-LABEL: @contracted_dims_stay_merged
func.func @contracted_dims_stay_merged(%x: tensor<8x16x2x3xf32>, %w: tensor<6x4xf32>) -> tensor<8x16x4xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.reshape %arg0 : tensor<8x16x2x3xf32> -> tensor<8x16x6xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %[[M]], %arg1 batch [] x [] contract [2] x [0]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.reshape %x : tensor<8x16x2x3xf32> -> tensor<128x6xf32>
  %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0] : tensor<128x6xf32>, tensor<6x4xf32> -> tensor<128x4xf32>
  %2 = graph.reshape %1 : tensor<128x4xf32> -> tensor<8x16x4xf32>
  return %2 : tensor<8x16x4xf32>
}

// CHECK-LABEL: @heads_merged_on_both_sides_are_batch_dims
func.func @heads_merged_on_both_sides_are_batch_dims(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32> {
  // CHECK-NEXT: graph.dot_general %arg0, %arg1 batch [0, 1] x [0, 1] contract [3] x [3]
  // CHECK-NEXT: return
  %0 = graph.reshape %q : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %1 = graph.reshape %k : tensor<2x3x6x4xf32> -> tensor<6x6x4xf32>
  %2 = graph.dot_general %0, %1 batch [0] x [0] contract [2] x [2] : tensor<6x5x4xf32>, tensor<6x6x4xf32> -> tensor<6x5x6xf32>
  %3 = graph.reshape %2 : tensor<6x5x6xf32> -> tensor<2x3x5x6xf32>
  return %3 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: @what_changes_along_merged_dims_stays
func.func @what_changes_along_merged_dims_stays(%x: tensor<2x3x4xf32>, %y: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: graph.reshape %arg0
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: return
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.mul %0, %y : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: @weights_repeated_for_every_line_of_the_batch
func.func @weights_repeated_for_every_line_of_the_batch(%x: tensor<8x5x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x5x6xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [] x [] contract [2] x [0]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.broadcast %w to [1, 2] : tensor<4x6xf32> -> tensor<8x4x6xf32>
  %1 = graph.dot_general %x, %0 batch [0] x [0] contract [2] x [1] : tensor<8x5x4xf32>, tensor<8x4x6xf32> -> tensor<8x5x6xf32>
  return %1 : tensor<8x5x6xf32>
}

// CHECK-LABEL: @repeated_for_every_head_but_not_for_the_batch
func.func @repeated_for_every_head_but_not_for_the_batch(%x: tensor<2x3x5x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<2x3x5x6xf32> {
  // CHECK-NEXT: %[[D:.*]] = graph.dot_general %arg0, %arg1 batch [0] x [0] contract [3] x [1]
  // CHECK-NEXT: return %[[D]]
  %0 = graph.broadcast %w to [0, 2, 3] : tensor<2x4x6xf32> -> tensor<2x3x4x6xf32>
  %1 = graph.dot_general %x, %0 batch [0, 1] x [0, 1] contract [3] x [2] : tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32> -> tensor<2x3x5x6xf32>
  return %1 : tensor<2x3x5x6xf32>
}
