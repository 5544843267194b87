// What the folders of the ops do on their own, without the patterns of --cleave-simplify.
// RUN: cleave-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @a_reshape_to_the_same_type_is_its_operand
func.func @a_reshape_to_the_same_type_is_its_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @a_reshape_of_a_reshape_is_one
func.func @a_reshape_of_a_reshape_is_one(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  %1 = graph.reshape %0 : tensor<6xf32> -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: @a_reshape_and_its_inverse_are_nothing
func.func @a_reshape_and_its_inverse_are_nothing(%x: tensor<?x3xf32, #graph.dims<["n", ""]>>) -> tensor<?x3xf32, #graph.dims<["n", ""]>> {
  // CHECK-NEXT: return %arg0
  %0 = graph.reshape %x : tensor<?x3xf32, #graph.dims<["n", ""]>> -> tensor<?xf32, #graph.dims<["3*n"]>>
  %1 = graph.reshape %0 : tensor<?xf32, #graph.dims<["3*n"]>> -> tensor<?x3xf32, #graph.dims<["n", ""]>>
  return %1 : tensor<?x3xf32, #graph.dims<["n", ""]>>
}

// CHECK-LABEL: @a_reshape_that_others_read_stays
func.func @a_reshape_that_others_read_stays(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.reshape %arg0 : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.reshape %arg0 : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  %1 = graph.reshape %0 : tensor<6xf32> -> tensor<3x2xf32>
  return %0, %1 : tensor<6xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: @a_transpose_in_order_is_its_operand
func.func @a_transpose_in_order_is_its_operand(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.transpose %x by [0, 1] : tensor<3x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// The type is the same, the elements are not.
// CHECK-LABEL: @a_transpose_of_a_square_stays
func.func @a_transpose_of_a_square_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: graph.transpose %arg0 by [1, 0]
  %0 = graph.transpose %x by [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// Dim 0 of the result is dim 1 of the middle, which is dim 2 of the operand.
// CHECK-LABEL: @a_transpose_of_a_transpose_composes_the_permutations
func.func @a_transpose_of_a_transpose_composes_the_permutations(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  // CHECK-NEXT: graph.transpose %arg0 by [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-NEXT: return
  %0 = graph.transpose %x by [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 by [1, 0, 2] : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}

// CHECK-LABEL: @a_transpose_and_its_inverse_are_nothing
func.func @a_transpose_and_its_inverse_are_nothing(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.transpose %x by [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 by [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @a_broadcast_to_the_same_type_is_its_operand
func.func @a_broadcast_to_the_same_type_is_its_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.broadcast %x to [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @a_broadcast_that_exchanges_dims_stays
func.func @a_broadcast_that_exchanges_dims_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: graph.broadcast %arg0 to [1, 0]
  %0 = graph.broadcast %x to [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @a_broadcast_of_a_broadcast_is_one
func.func @a_broadcast_of_a_broadcast_is_one(%x: tensor<3xf32>) -> tensor<5x3x4xf32> {
  // CHECK-NEXT: graph.broadcast %arg0 to [1] : tensor<3xf32> -> tensor<5x3x4xf32>
  // CHECK-NEXT: return
  %0 = graph.broadcast %x to [0] : tensor<3xf32> -> tensor<3x4xf32>
  %1 = graph.broadcast %0 to [1, 2] : tensor<3x4xf32> -> tensor<5x3x4xf32>
  return %1 : tensor<5x3x4xf32>
}

// CHECK-LABEL: @a_slice_of_all_elements_is_its_operand
func.func @a_slice_of_all_elements_is_its_operand(%x: tensor<?x3xf32, #graph.dims<["n", ""]>>) -> tensor<?x3xf32, #graph.dims<["n", ""]>> {
  // CHECK-NEXT: return %arg0
  %0 = graph.slice %x dim 0 from 0 step 1 : tensor<?x3xf32, #graph.dims<["n", ""]>> -> tensor<?x3xf32, #graph.dims<["n", ""]>>
  return %0 : tensor<?x3xf32, #graph.dims<["n", ""]>>
}

// CHECK-LABEL: @sizes_without_symbols_are_a_constant
func.func @sizes_without_symbols_are_a_constant() -> tensor<3xi64> {
  // CHECK-NEXT: graph.constant dense<[4, 5, 12]> : tensor<3xi64>
  %0 = graph.sizes ["4", "3 + 2", "3*4"] : tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CHECK-LABEL: @sizes_are_divided
func.func @sizes_are_divided() -> tensor<2xf32> {
  // CHECK-NEXT: graph.constant dense<[1.500000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = graph.sizes ["6", "8"] {divisor = "4"} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @a_divisor_below_one_counts_as_one
func.func @a_divisor_below_one_counts_as_one() -> tensor<f32> {
  // CHECK-NEXT: graph.constant dense<6.000000e+00> : tensor<f32>
  %0 = graph.sizes ["6"] {divisor = "0"} : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @sizes_with_a_symbol_stay
func.func @sizes_with_a_symbol_stay() -> (tensor<2xi64>, tensor<f32>) {
  // CHECK-NEXT: graph.sizes ["4", "n"]
  %0 = graph.sizes ["4", "n"] : tensor<2xi64>
  // CHECK-NEXT: graph.sizes ["6"] {divisor = "n"}
  %1 = graph.sizes ["6"] {divisor = "n"} : tensor<f32>
  return %0, %1 : tensor<2xi64>, tensor<f32>
}

// A dropout without a seed has the effect of an allocation, so it goes, too.
// CHECK-LABEL: @an_op_without_uses_goes
func.func @an_op_without_uses_goes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[N:.*]] = graph.neg %arg0
  // CHECK-NEXT: graph.neg %[[N]]
  // CHECK-NEXT: return
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
  %2 = graph.neg %x : tensor<4xf32>
  %3 = graph.neg %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
