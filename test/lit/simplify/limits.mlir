// What is not folded, since the folded value would be another one.
// RUN: cleave-opt --cleave-simplify --split-input-file %s | FileCheck %s

// Two factors overflow together, but not one after the other.
// CHECK-LABEL: func @factors_that_overflow_together
// CHECK-COUNT-2: graph.mul
func.func @factors_that_overflow_together(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = graph.constant dense<2.560000e+02> : tensor<4xf16>
  %0 = graph.mul %x, %c : tensor<4xf16>
  %1 = graph.mul %0, %c : tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// CHECK-LABEL: func @factors_that_vanish_together
// CHECK-COUNT-2: graph.mul
func.func @factors_that_vanish_together(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<1.000000e-30> : tensor<4xf32>
  %0 = graph.mul %x, %c : tensor<4xf32>
  %1 = graph.mul %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The queries are the last s of 2 s positions, so that the mask is not causal from the first one.
// CHECK-LABEL: func @a_mask_that_begins_at_a_symbol
// CHECK: graph.attention
// CHECK-NOT: causal
// CHECK: return
func.func @a_mask_that_begins_at_a_symbol(%q: tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>, %k: tensor<3x?x8xf32, #graph.dims<["", "2*s", ""]>>) -> tensor<3x?x8xf32, #graph.dims<["", "s", ""]>> {
  %i = graph.iota dim 1 : tensor<3x?x?xi64, #graph.dims<["", "2*s", "2*s"]>>
  %j = graph.iota dim 2 : tensor<3x?x?xi64, #graph.dims<["", "2*s", "2*s"]>>
  %c = graph.compare le %j, %i : tensor<3x?x?xi64, #graph.dims<["", "2*s", "2*s"]>>
  %m = graph.slice %c dim 1 from 0 step 1 {symbolic_start = "s"} : tensor<3x?x?xi1, #graph.dims<["", "2*s", "2*s"]>> -> tensor<3x?x?xi1, #graph.dims<["", "s", "2*s"]>>
  %y = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64} : (tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>, tensor<3x?x8xf32, #graph.dims<["", "2*s", ""]>>, tensor<3x?x8xf32, #graph.dims<["", "2*s", ""]>>, tensor<3x?x?xi1, #graph.dims<["", "s", "2*s"]>>) -> tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>
  return %y : tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>
}

// -----

// Unsigned differences wrap around: the first elements are large.
// CHECK-LABEL: func @unsigned_positions_below_zero
// CHECK: graph.compare
func.func @unsigned_positions_below_zero() -> tensor<5000xi1> {
  %a = graph.iota dim 0 : tensor<5000xui32>
  %b = graph.constant dense<6000> : tensor<5000xui32>
  %z = graph.constant dense<0> : tensor<5000xui32>
  %0 = graph.sub %a, %b : tensor<5000xui32>
  %1 = graph.compare gt %0, %z : tensor<5000xui32>
  return %1 : tensor<5000xi1>
}

// -----

// 4999 times a million is no element of i32.
// CHECK-LABEL: func @positions_that_wrap_around
// CHECK: graph.compare
func.func @positions_that_wrap_around() -> tensor<5000xi1> {
  %a = graph.iota dim 0 : tensor<5000xi32>
  %b = graph.constant dense<1000000> : tensor<5000xi32>
  %z = graph.constant dense<0> : tensor<5000xi32>
  %0 = graph.mul %a, %b : tensor<5000xi32>
  %1 = graph.compare ge %0, %z : tensor<5000xi32>
  return %1 : tensor<5000xi1>
}

// -----

// f32 has no 16777217: the sum is rounded.
// CHECK-LABEL: func @positions_that_are_rounded
// CHECK: graph.compare
func.func @positions_that_are_rounded() -> tensor<5000xi1> {
  %a = graph.iota dim 0 : tensor<5000xf32>
  %b = graph.constant dense<16777216.0> : tensor<5000xf32>
  %c = graph.constant dense<1.0> : tensor<5000xf32>
  %0 = graph.add %a, %b : tensor<5000xf32>
  %1 = graph.add %0, %c : tensor<5000xf32>
  %2 = graph.compare gt %1, %0 : tensor<5000xf32>
  return %2 : tensor<5000xi1>
}
