// Regions in which the model disables autocast compute in f32, from graph.enter_f32 to graph.leave_f32.
// RUN: cleave-opt --split-input-file --cleave-precision %s | FileCheck %s
// RUN: cleave-opt --split-input-file --cleave-precision=dtype=f16 %s | FileCheck %s
// RUN: cleave-opt --split-input-file --cleave-precision=dtype=f32 %s | FileCheck %s --check-prefix=F32

// F32-NOT: graph.{{enter_f32|leave_f32|cast}}

// CHECK-LABEL: func @products_of_a_region_are_f32
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
// CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<4x8x[[LOW]]> -> tensor<4x8xf32>
// CHECK: %[[G:.*]] = graph.relu %[[WIDE]] : tensor<4x8xf32>
// CHECK: %[[Z:.*]] = graph.dot_general %[[G]], %arg1 {{.*}} -> tensor<4x8xf32>
// CHECK-NOT: graph.leave_f32
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW]]>
func.func @products_of_a_region_are_f32(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = graph.enter_f32 %0 : tensor<4x8xf32>
  %2 = graph.relu %1 : tensor<4x8xf32>
  %3 = graph.dot_general %2, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %4 = graph.leave_f32 %3 : tensor<4x8xf32>
  %5 = graph.dot_general %4, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @a_condition_does_not_carry_the_region_on
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
// CHECK: graph.select {{.*}} tensor<4x8x[[LOW]]>
func.func @a_condition_does_not_carry_the_region_on(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.enter_f32 %x : tensor<4x8xf32>
  %1 = graph.compare gt %0, %0 : tensor<4x8xf32>
  %2 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %3 = graph.select %1, %2, %2 : tensor<4x8xi1>, tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}
