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
