// Slices, concats, reverses, pads and transposes: which of them vanish or become one.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @slices_of_two_dims_stay_two
func.func @slices_of_two_dims_stay_two(%x: tensor<6x8xf32>) -> tensor<2x4xf32> {
  // CHECK-COUNT-2: graph.slice
  %0 = graph.slice %x dim 0 from 1 step 1 : tensor<6x8xf32> -> tensor<2x8xf32>
  %1 = graph.slice %0 dim 1 from 2 step 1 : tensor<2x8xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @the_starts_of_slices_add_up_where_they_are_symbolic
func.func @the_starts_of_slices_add_up_where_they_are_symbolic(%x: tensor<?xf32, #graph.dims<["3*s"]>>) -> tensor<2xf32> {
  // CHECK-NEXT: graph.slice %arg0 dim 0 from 0 step 1 {symbolic_start = "s + 1"}
  %0 = graph.slice %x dim 0 from 0 step 1 {symbolic_start = "s"} : tensor<?xf32, #graph.dims<["3*s"]>> -> tensor<?xf32, #graph.dims<["2*s"]>>
  %1 = graph.slice %0 dim 0 from 1 step 1 : tensor<?xf32, #graph.dims<["2*s"]>> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @a_slice_of_all_is_its_operand
func.func @a_slice_of_all_is_its_operand(%x: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.slice %x dim 0 from 0 step 1 : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: @a_part_of_a_piece_of_a_concat_stays_a_slice
func.func @a_part_of_a_piece_of_a_concat_stays_a_slice(%a: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK: %[[C:.*]] = graph.concat %arg0, %arg1
  // CHECK-NEXT: graph.slice %[[C]]
  %0 = graph.concat %a, %b dim 0 : tensor<3xf32>, tensor<4xf32> -> tensor<7xf32>
  %1 = graph.slice %0 dim 0 from 3 step 1 : tensor<7xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @a_slice_as_long_as_a_piece_but_across_two_stays
func.func @a_slice_as_long_as_a_piece_but_across_two_stays(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = graph.concat %arg0, %arg1
  // CHECK-NEXT: graph.slice %[[C]] dim 0 from 2
  %0 = graph.concat %a, %b dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  %1 = graph.slice %0 dim 0 from 2 step 1 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @every_second_element_of_a_concat_stays_a_slice
func.func @every_second_element_of_a_concat_stays_a_slice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = graph.concat %arg0, %arg1
  // CHECK-NEXT: graph.slice %[[C]] dim 0 from 0 step 2
  %0 = graph.concat %a, %b dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  %1 = graph.slice %0 dim 0 from 0 step 2 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_slice_of_another_dim_than_the_concat_stays
func.func @a_slice_of_another_dim_than_the_concat_stays(%a: tensor<4x2xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[C:.*]] = graph.concat %arg0, %arg0
  // CHECK-NEXT: graph.slice %[[C]] dim 0
  %0 = graph.concat %a, %a dim 1 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x4xf32>
  %1 = graph.slice %0 dim 0 from 0 step 1 : tensor<4x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @a_piece_behind_a_symbolic_one_is_found
func.func @a_piece_behind_a_symbolic_one_is_found(%a: tensor<?xf32, #graph.dims<["s"]>>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg1
  %0 = graph.concat %a, %b dim 0 : tensor<?xf32, #graph.dims<["s"]>>, tensor<4xf32> -> tensor<?xf32, #graph.dims<["s + 4"]>>
  %1 = graph.slice %0 dim 0 from 0 step 1 {symbolic_start = "s"} : tensor<?xf32, #graph.dims<["s + 4"]>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_concat_of_one_is_its_operand
func.func @a_concat_of_one_is_its_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.concat %x dim 0 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_pad_by_nothing_is_its_operand
func.func @a_pad_by_nothing_is_its_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.pad %x dim 0 low 0 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_pad_at_the_end_stays
func.func @a_pad_at_the_end_stays(%x: tensor<4xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: graph.pad %arg0
  %0 = graph.pad %x dim 0 low 0 : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: @two_reverses_of_a_dim_cancel
func.func @two_reverses_of_a_dim_cancel(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.reverse %x dim 1 : tensor<4x3xf32>
  %1 = graph.reverse %0 dim 1 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @reverses_of_two_dims_stay
func.func @reverses_of_two_dims_stay(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK-COUNT-2: graph.reverse
  %0 = graph.reverse %x dim 0 : tensor<4x3xf32>
  %1 = graph.reverse %0 dim 1 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @a_transpose_back_vanishes_and_three_dims_in_turn_are_one_transpose
func.func @a_transpose_back_vanishes_and_three_dims_in_turn_are_one_transpose(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 by [2, 0, 1]
  // CHECK-NEXT: return %arg0, %[[T]]
  %0 = graph.transpose %x by [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %1 = graph.transpose %0 by [1, 0, 2] : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
  %2 = graph.transpose %x by [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %3 = graph.transpose %2 by [1, 2, 0] : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  return %1, %3 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: @reshapes_are_one_and_vanish_where_the_shape_is_the_first
func.func @reshapes_are_one_and_vanish_where_the_shape_is_the_first(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x6xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : tensor<2x3x4xf32> -> tensor<4x6xf32>
  // CHECK-NEXT: return %arg0, %[[R]]
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<24xf32>
  %1 = graph.reshape %0 : tensor<24xf32> -> tensor<2x3x4xf32>
  %2 = graph.reshape %0 : tensor<24xf32> -> tensor<4x6xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @broadcasts_are_one
func.func @broadcasts_are_one(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: graph.broadcast %arg0 to [1] : tensor<3xf32> -> tensor<2x3x4xf32>
  %0 = graph.broadcast %x to [0] : tensor<3xf32> -> tensor<3x4xf32>
  %1 = graph.broadcast %0 to [1, 2] : tensor<3x4xf32> -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @dims_of_size_one_do_not_make_a_transpose_of_others_a_reshape
func.func @dims_of_size_one_do_not_make_a_transpose_of_others_a_reshape(%x: tensor<2x1x3xf32>) -> tensor<3x1x2xf32> {
  // CHECK-NEXT: graph.transpose %arg0 by [2, 1, 0]
  %0 = graph.transpose %x by [2, 1, 0] : tensor<2x1x3xf32> -> tensor<3x1x2xf32>
  return %0 : tensor<3x1x2xf32>
}

// A symbol may be larger than one.
// CHECK-LABEL: @a_symbolic_dim_is_moved_by_a_transpose
func.func @a_symbolic_dim_is_moved_by_a_transpose(%x: tensor<?x3xf32, #graph.dims<["s", ""]>>) -> tensor<3x?xf32, #graph.dims<["", "s"]>> {
  // CHECK-NEXT: graph.transpose %arg0 by [1, 0]
  %0 = graph.transpose %x by [1, 0] : tensor<?x3xf32, #graph.dims<["s", ""]>> -> tensor<3x?xf32, #graph.dims<["", "s"]>>
  return %0 : tensor<3x?xf32, #graph.dims<["", "s"]>>
}

// CHECK-LABEL: @symbolic_batch_and_heads_are_transposed_apart
func.func @symbolic_batch_and_heads_are_transposed_apart(%k: tensor<?x4x6x8xf32, #graph.dims<["b", "", "", ""]>>) -> tensor<?x4x8x6xf32, #graph.dims<["b", "", "", ""]>> {
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 by [0, 1, 3, 2]
  // CHECK-NEXT: return %[[T]]
  %0 = graph.reshape %k : tensor<?x4x6x8xf32, #graph.dims<["b", "", "", ""]>> -> tensor<?x6x8xf32, #graph.dims<["4*b", "", ""]>>
  %1 = graph.transpose %0 by [0, 2, 1] : tensor<?x6x8xf32, #graph.dims<["4*b", "", ""]>> -> tensor<?x8x6xf32, #graph.dims<["4*b", "", ""]>>
  %2 = graph.reshape %1 : tensor<?x8x6xf32, #graph.dims<["4*b", "", ""]>> -> tensor<?x4x8x6xf32, #graph.dims<["b", "", "", ""]>>
  return %2 : tensor<?x4x8x6xf32, #graph.dims<["b", "", "", ""]>>
}

// The first reshape splits a dim; nothing was merged.
// CHECK-LABEL: @a_transpose_of_split_dims_stays_between_its_reshapes
func.func @a_transpose_of_split_dims_stays_between_its_reshapes(%x: tensor<6x4xf32>) -> tensor<3x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.reshape %arg0 : tensor<6x4xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %[[S]] by [1, 0, 2]
  // CHECK-NEXT: graph.reshape %[[T]]
  %0 = graph.reshape %x : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %1 = graph.transpose %0 by [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %2 = graph.reshape %1 : tensor<3x2x4xf32> -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}
