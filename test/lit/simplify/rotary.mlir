// Rotary embeddings: rotated copies and pairs computed apart, whole and of a part of the width.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @neighbours_turned_in_a_copy
func.func @neighbours_turned_in_a_copy(%x: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.rotary %arg0, %arg1, %arg2 {interleaved} : tensor<3x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %a = graph.slice %x dim 1 from 0 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 1 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %n = graph.neg %b : tensor<3x4xf32>
  %f = graph.reshape %n : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %g = graph.reshape %a : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %j = graph.concat %f, %g dim 2 : tensor<3x4x1xf32>, tensor<3x4x1xf32> -> tensor<3x4x2xf32>
  %r = graph.reshape %j : tensor<3x4x2xf32> -> tensor<3x8xf32>
  %0 = graph.mul %s, %r : tensor<3x8xf32>
  %1 = graph.mul %c, %x : tensor<3x8xf32>
  %2 = graph.add %0, %1 : tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// Neighbours as a dim of two elements, as Llama's first code has them as complex numbers.
// CHECK-LABEL: @neighbours_in_a_dim_of_their_own
func.func @neighbours_in_a_dim_of_their_own(%x: tensor<3x8xf32>, %c: tensor<3x4x1xf32>, %s: tensor<3x4x1xf32>) -> tensor<3x8xf32> {
  // CHECK: graph.rotary %arg0, %{{.*}}, %{{.*}} {interleaved} : tensor<3x8xf32>
  // CHECK-NEXT: return
  %p = graph.reshape %x : tensor<3x8xf32> -> tensor<3x4x2xf32>
  %a = graph.slice %p dim 2 from 0 step 1 : tensor<3x4x2xf32> -> tensor<3x4x1xf32>
  %b = graph.slice %p dim 2 from 1 step 1 : tensor<3x4x2xf32> -> tensor<3x4x1xf32>
  %ac = graph.mul %a, %c : tensor<3x4x1xf32>
  %bs = graph.mul %b, %s : tensor<3x4x1xf32>
  %first = graph.sub %ac, %bs : tensor<3x4x1xf32>
  %as = graph.mul %a, %s : tensor<3x4x1xf32>
  %bc = graph.mul %b, %c : tensor<3x4x1xf32>
  %second = graph.add %bc, %as : tensor<3x4x1xf32>
  %j = graph.concat %first, %second dim 2 : tensor<3x4x1xf32>, tensor<3x4x1xf32> -> tensor<3x4x2xf32>
  %y = graph.reshape %j : tensor<3x4x2xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The dim of the pairs stays in the result; the angles lack it.
// CHECK-LABEL: @pairs_are_the_last_dim
func.func @pairs_are_the_last_dim(%x: tensor<3x4x2xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<3x4x2xf32> {
  // CHECK-DAG: %[[C1:.*]] = graph.reshape %arg1 : tensor<3x4xf32> -> tensor<3x4x1xf32>
  // CHECK-DAG: %[[S1:.*]] = graph.reshape %arg2 : tensor<3x4xf32> -> tensor<3x4x1xf32>
  // CHECK-DAG: %[[C:.*]] = graph.concat %[[C1]], %[[C1]] dim 2
  // CHECK-DAG: %[[S:.*]] = graph.concat %[[S1]], %[[S1]] dim 2
  // CHECK: %[[Y:.*]] = graph.rotary %arg0, %[[C]], %[[S]] : tensor<3x4x2xf32>
  // CHECK-NEXT: return %[[Y]]
  %p = graph.slice %x dim 2 from 0 step 1 : tensor<3x4x2xf32> -> tensor<3x4x1xf32>
  %q = graph.slice %x dim 2 from 1 step 1 : tensor<3x4x2xf32> -> tensor<3x4x1xf32>
  %a = graph.reshape %p : tensor<3x4x1xf32> -> tensor<3x4xf32>
  %b = graph.reshape %q : tensor<3x4x1xf32> -> tensor<3x4xf32>
  %ac = graph.mul %a, %c : tensor<3x4xf32>
  %bs = graph.mul %b, %s : tensor<3x4xf32>
  %first = graph.sub %ac, %bs : tensor<3x4xf32>
  %as = graph.mul %a, %s : tensor<3x4xf32>
  %bc = graph.mul %b, %c : tensor<3x4xf32>
  %second = graph.add %bc, %as : tensor<3x4xf32>
  %f = graph.reshape %first : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %g = graph.reshape %second : tensor<3x4xf32> -> tensor<3x4x1xf32>
  %j = graph.concat %f, %g dim 2 : tensor<3x4x1xf32>, tensor<3x4x1xf32> -> tensor<3x4x2xf32>
  return %j : tensor<3x4x2xf32>
}

// The angles of a half serve both halves.
// CHECK-LABEL: @halves_computed_apart
func.func @halves_computed_apart(%x: tensor<3x8xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // CHECK-DAG: %[[C:.*]] = graph.concat %arg1, %arg1 dim 1
  // CHECK-DAG: %[[S:.*]] = graph.concat %arg2, %arg2 dim 1
  // CHECK: %[[Y:.*]] = graph.rotary %arg0, %[[C]], %[[S]] : tensor<3x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %a = graph.slice %x dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 4 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %ac = graph.mul %a, %c : tensor<3x4xf32>
  %bs = graph.mul %b, %s : tensor<3x4xf32>
  %first = graph.sub %ac, %bs : tensor<3x4xf32>
  %as = graph.mul %a, %s : tensor<3x4xf32>
  %bc = graph.mul %b, %c : tensor<3x4xf32>
  %second = graph.add %bc, %as : tensor<3x4xf32>
  %y = graph.concat %first, %second dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// As in Phi and GPT-NeoX.
// CHECK-LABEL: @a_part_of_the_width_is_turned
func.func @a_part_of_the_width_is_turned(%x: tensor<3x8xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // CHECK: %[[P:.*]] = graph.slice %arg0 dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  // CHECK: %[[R:.*]] = graph.rotary %[[P]], %arg1, %arg2 : tensor<3x4xf32>
  // CHECK: graph.concat %[[R]]
  %p = graph.slice %x dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %rest = graph.slice %x dim 1 from 4 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %a = graph.slice %p dim 1 from 0 step 1 : tensor<3x4xf32> -> tensor<3x2xf32>
  %b = graph.slice %p dim 1 from 2 step 1 : tensor<3x4xf32> -> tensor<3x2xf32>
  %n = graph.neg %b : tensor<3x2xf32>
  %r = graph.concat %n, %a dim 1 : tensor<3x2xf32>, tensor<3x2xf32> -> tensor<3x4xf32>
  %0 = graph.mul %p, %c : tensor<3x4xf32>
  %1 = graph.mul %r, %s : tensor<3x4xf32>
  %2 = graph.add %0, %1 : tensor<3x4xf32>
  %3 = graph.concat %2, %rest dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  return %3 : tensor<3x8xf32>
}

// CHECK-LABEL: @both_halves_need_the_same_angle
func.func @both_halves_need_the_same_angle(%x: tensor<3x8xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>, %t: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: graph.rotary
  // CHECK: return
  %a = graph.slice %x dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 4 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %ac = graph.mul %a, %c : tensor<3x4xf32>
  %bs = graph.mul %b, %s : tensor<3x4xf32>
  %first = graph.sub %ac, %bs : tensor<3x4xf32>
  %at = graph.mul %a, %t : tensor<3x4xf32>
  %bc = graph.mul %b, %c : tensor<3x4xf32>
  %second = graph.add %bc, %at : tensor<3x4xf32>
  %y = graph.concat %first, %second dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: @the_copy_is_of_the_value_that_is_kept
func.func @the_copy_is_of_the_value_that_is_kept(%x: tensor<3x8xf32>, %z: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: graph.rotary
  // CHECK: return
  %a = graph.slice %x dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 4 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %n = graph.neg %b : tensor<3x4xf32>
  %r = graph.concat %n, %a dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  %0 = graph.mul %z, %c : tensor<3x8xf32>
  %1 = graph.mul %r, %s : tensor<3x8xf32>
  %2 = graph.add %0, %1 : tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// CHECK-LABEL: @neighbours_joined_as_halves_are_no_rotary
func.func @neighbours_joined_as_halves_are_no_rotary(%x: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: graph.rotary
  // CHECK: return
  %a = graph.slice %x dim 1 from 0 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 1 step 2 : tensor<3x8xf32> -> tensor<3x4xf32>
  %n = graph.neg %b : tensor<3x4xf32>
  %r = graph.concat %n, %a dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  %0 = graph.mul %x, %c : tensor<3x8xf32>
  %1 = graph.mul %r, %s : tensor<3x8xf32>
  %2 = graph.add %0, %1 : tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// CHECK-LABEL: @halves_of_the_first_dim_are_no_rotary
func.func @halves_of_the_first_dim_are_no_rotary(%x: tensor<8x8xf32>, %c: tensor<8x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NOT: graph.rotary
  // CHECK: return
  %a = graph.slice %x dim 0 from 0 step 1 : tensor<8x8xf32> -> tensor<4x8xf32>
  %b = graph.slice %x dim 0 from 4 step 1 : tensor<8x8xf32> -> tensor<4x8xf32>
  %n = graph.neg %b : tensor<4x8xf32>
  %r = graph.concat %n, %a dim 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %0 = graph.mul %x, %c : tensor<8x8xf32>
  %1 = graph.mul %r, %s : tensor<8x8xf32>
  %2 = graph.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: @a_copy_without_a_minus_is_no_rotary
func.func @a_copy_without_a_minus_is_no_rotary(%x: tensor<3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: graph.rotary
  // CHECK: return
  %a = graph.slice %x dim 1 from 0 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = graph.slice %x dim 1 from 4 step 1 : tensor<3x8xf32> -> tensor<3x4xf32>
  %r = graph.concat %b, %a dim 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  %0 = graph.mul %x, %c : tensor<3x8xf32>
  %1 = graph.mul %r, %s : tensor<3x8xf32>
  %2 = graph.add %0, %1 : tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}
