// Formulas of activation functions: each spelling that is one, and neighbours that are none.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @half_of_x_may_be_multiplied_first
func.func @half_of_x_may_be_multiplied_first(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 : tensor<4xf32>
  // CHECK-NEXT: return
  %root = graph.constant dense<0.70710677> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %half, %x : tensor<4xf32>
  %1 = graph.mul %root, %x : tensor<4xf32>
  %2 = graph.erf %1 : tensor<4xf32>
  %3 = graph.add %one, %2 : tensor<4xf32>
  %4 = graph.mul %3, %0 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @without_the_half_it_is_no_gelu
func.func @without_the_half_it_is_no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %root = graph.constant dense<0.70710677> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.mul %x, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @two_plus_erf_is_no_gelu
func.func @two_plus_erf_is_no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %root = graph.constant dense<0.70710677> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %x, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %two : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %half : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @erf_of_another_value_is_no_gelu
func.func @erf_of_another_value_is_no_gelu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %root = graph.constant dense<0.70710677> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %y, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %half : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// x appears once too often.
// CHECK-LABEL: @a_gelu_times_x_is_no_gelu_of_one_op
func.func @a_gelu_times_x_is_no_gelu_of_one_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[G:.*]] = graph.gelu %arg0 : tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.mul %[[G]], %arg0
  // CHECK-NEXT: return %[[Y]]
  %root = graph.constant dense<0.70710677> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %x, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %half : tensor<4xf32>
  %5 = graph.mul %4, %x : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// sqrt(2/pi) x (1 + 0.044715 x^2), as JAX and Gemma write it.
// CHECK-LABEL: @the_cube_may_be_a_product_of_x_and_a_square
func.func @the_cube_may_be_a_product_of_x_and_a_square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 {tanh} : tensor<4xf32>
  // CHECK-NEXT: return
  %slope = graph.constant dense<0.797884583> : tensor<4xf32>
  %cubic = graph.constant dense<0.044715> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %x, %x : tensor<4xf32>
  %1 = graph.mul %0, %cubic : tensor<4xf32>
  %2 = graph.add %one, %1 : tensor<4xf32>
  %3 = graph.mul %x, %slope : tensor<4xf32>
  %4 = graph.mul %3, %2 : tensor<4xf32>
  %5 = graph.tanh %4 : tensor<4xf32>
  %6 = graph.add %5, %one : tensor<4xf32>
  %7 = graph.mul %x, %half : tensor<4xf32>
  %8 = graph.mul %7, %6 : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// CHECK-LABEL: @another_cubic_factor_is_no_gelu
func.func @another_cubic_factor_is_no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %slope = graph.constant dense<0.797884583> : tensor<4xf32>
  %cubic = graph.constant dense<0.045> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %x, %x : tensor<4xf32>
  %1 = graph.mul %0, %x : tensor<4xf32>
  %2 = graph.mul %1, %cubic : tensor<4xf32>
  %3 = graph.add %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %slope : tensor<4xf32>
  %5 = graph.tanh %4 : tensor<4xf32>
  %6 = graph.add %5, %one : tensor<4xf32>
  %7 = graph.mul %x, %half : tensor<4xf32>
  %8 = graph.mul %7, %6 : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// CHECK-LABEL: @a_square_in_place_of_the_cube_is_no_gelu
func.func @a_square_in_place_of_the_cube_is_no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %slope = graph.constant dense<0.797884583> : tensor<4xf32>
  %cubic = graph.constant dense<0.044715> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.mul %x, %x : tensor<4xf32>
  %1 = graph.mul %0, %cubic : tensor<4xf32>
  %2 = graph.add %x, %1 : tensor<4xf32>
  %3 = graph.mul %2, %slope : tensor<4xf32>
  %4 = graph.tanh %3 : tensor<4xf32>
  %5 = graph.add %4, %one : tensor<4xf32>
  %6 = graph.mul %x, %half : tensor<4xf32>
  %7 = graph.mul %6, %5 : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// CHECK-LABEL: @one_over_one_plus_exp_of_minus_x_is_a_sigmoid
func.func @one_over_one_plus_exp_of_minus_x_is_a_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.sigmoid %arg0
  // CHECK-NEXT: return %[[S]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.exp %0 : tensor<4xf32>
  %2 = graph.add %one, %1 : tensor<4xf32>
  %3 = graph.div %one, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @another_value_over_one_plus_exp_is_gated_by_a_sigmoid
func.func @another_value_over_one_plus_exp_is_gated_by_a_sigmoid(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.sigmoid %arg0
  // CHECK-NEXT: %[[Y:.*]] = graph.mul %arg1, %[[S]]
  // CHECK-NEXT: return %[[Y]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.exp %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.div %y, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @exp_of_x_gives_no_sigmoid
func.func @exp_of_x_gives_no_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.sigmoid
  // CHECK: return
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.add %0, %one : tensor<4xf32>
  %2 = graph.div %one, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @two_plus_exp_gives_no_sigmoid
func.func @two_plus_exp_gives_no_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.sigmoid
  // CHECK: return
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.exp %0 : tensor<4xf32>
  %2 = graph.add %1, %two : tensor<4xf32>
  %3 = graph.div %one, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @a_gate_of_another_value_is_no_silu
func.func @a_gate_of_another_value_is_no_silu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.sigmoid %arg0
  // CHECK-NEXT: %[[Y:.*]] = graph.mul %arg1, %[[S]]
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.sigmoid %x : tensor<4xf32>
  %1 = graph.mul %y, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_gate_of_another_steepness_is_no_quick_gelu
func.func @a_gate_of_another_steepness_is_no_quick_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.quick_gelu
  // CHECK: %[[S:.*]] = graph.sigmoid
  // CHECK-NEXT: graph.mul %arg0, %[[S]]
  %steep = graph.constant dense<1.5> : tensor<4xf32>
  %0 = graph.mul %x, %steep : tensor<4xf32>
  %1 = graph.sigmoid %0 : tensor<4xf32>
  %2 = graph.mul %x, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The slope of a ReLU at 0 is 0, that of a maximum 1/2.
// CHECK-LABEL: @the_greater_of_zero_and_x_is_no_relu
func.func @the_greater_of_zero_and_x_is_no_relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = graph.max %arg0
  // CHECK-NEXT: return %[[R]]
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %0 = graph.max %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}
