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
  %y, %lse_y = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64} : (tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>, tensor<3x?x8xf32, #graph.dims<["", "2*s", ""]>>, tensor<3x?x8xf32, #graph.dims<["", "2*s", ""]>>, tensor<3x?x?xi1, #graph.dims<["", "s", "2*s"]>>) -> (tensor<3x?x8xf32, #graph.dims<["", "s", ""]>>, tensor<3x?xf32, #graph.dims<["", "s"]>>)
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

// -----

// No double represents 2^53 + 1.
// CHECK-LABEL: func @integers_beyond_doubles_stay
// CHECK-DAG: graph.constant dense<9007199254740993> : tensor<4xi64>
// CHECK-DAG: graph.constant dense<-9007199254740995> : tensor<2x3xi64>
// CHECK-DAG: graph.constant dense<[9007199254740993, 9007199254740993, 9007199254740992]>
// CHECK-DAG: graph.reshape
// CHECK: return
func.func @integers_beyond_doubles_stay() -> (tensor<4xi64>, tensor<6xi64>, tensor<3xi64>) {
  %0 = graph.constant dense<9007199254740993> : tensor<4xi64>
  %1 = graph.constant dense<-9007199254740995> : tensor<2x3xi64>
  %2 = graph.reshape %1 : tensor<2x3xi64> -> tensor<6xi64>
  %3 = graph.constant dense<[9007199254740993, 9007199254740993, 9007199254740992]> : tensor<3xi64>
  return %0, %2, %3 : tensor<4xi64>, tensor<6xi64>, tensor<3xi64>
}

// -----

// A comparison with 2^53 would be true.
// CHECK-LABEL: func @integers_beyond_doubles_are_not_compared_as_doubles
// CHECK: graph.compare
func.func @integers_beyond_doubles_are_not_compared_as_doubles() -> tensor<4xi1> {
  %0 = graph.constant dense<9007199254740993> : tensor<4xi64>
  %1 = graph.constant dense<9007199254740992> : tensor<4xi64>
  %2 = graph.compare eq %0, %1 : tensor<4xi64>
  return %2 : tensor<4xi1>
}

// -----

// The least and the largest integer are known as such.
// CHECK-LABEL: func @the_ends_of_the_integers_become_scalars
// CHECK-DAG: graph.constant dense<9223372036854775807> : tensor<i64>
// CHECK-DAG: graph.constant dense<-9223372036854775808> : tensor<i64>
func.func @the_ends_of_the_integers_become_scalars() -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = graph.constant dense<9223372036854775807> : tensor<4xi64>
  %1 = graph.constant dense<-9223372036854775808> : tensor<4xi64>
  return %0, %1 : tensor<4xi64>, tensor<4xi64>
}
