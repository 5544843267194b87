// The rules of kernel groups (passes/fuse/Groups.h), each at a group that obeys it and at one that
// would not; then what is cloned into groups, and what stays outside.
// RUN: cleave-opt %s --cleave-fuse-groups | FileCheck %s

// (G2)
// CHECK-LABEL: @reductions_over_the_same_dims_share_a_group(
func.func @reductions_over_the_same_dims_share_a_group(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[R:.*]]:2 = graph.fusion
  // CHECK: graph.reduce sum
  // CHECK: graph.reduce max
  // CHECK: return %[[R]]#0, %[[R]]#1
  %0 = graph.reduce sum %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = graph.reduce max %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// (G2)
// CHECK-LABEL: @reductions_over_different_dims_are_two_groups(
func.func @reductions_over_different_dims_are_two_groups(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = graph.fusion
  // CHECK: graph.yield
  // CHECK: %[[B:.*]] = graph.fusion
  // CHECK: return %[[A]], %[[B]]
  %0 = graph.reduce sum %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = graph.reduce sum %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// (G3)
// CHECK-LABEL: @a_row_of_64_kib_is_reduced_and_read_again(
func.func @a_row_of_64_kib_is_reduced_and_read_again(%x: tensor<2x16384xf32>) -> tensor<2x16384xf32> {
  // CHECK: graph.reduce
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.reduce sum %x over [1] : tensor<2x16384xf32> -> tensor<2xf32>
  %1 = graph.broadcast %0 to [0] : tensor<2xf32> -> tensor<2x16384xf32>
  %2 = graph.div %x, %1 : tensor<2x16384xf32>
  return %2 : tensor<2x16384xf32>
}

// (G3)
// CHECK-LABEL: @a_row_with_one_more_element_ends_its_group(
func.func @a_row_with_one_more_element_ends_its_group(%x: tensor<2x16385xf32>) -> tensor<2x16385xf32> {
  // CHECK: %[[SUM:.*]] = graph.fusion
  // CHECK: graph.reduce
  // CHECK: graph.fusion ({{.*}}%[[SUM]]
  // CHECK: graph.div
  %0 = graph.reduce sum %x over [1] : tensor<2x16385xf32> -> tensor<2xf32>
  %1 = graph.broadcast %0 to [0] : tensor<2xf32> -> tensor<2x16385xf32>
  %2 = graph.div %x, %1 : tensor<2x16385xf32>
  return %2 : tensor<2x16385xf32>
}

// (G3)
// CHECK-LABEL: @a_row_may_have_several_dims(
func.func @a_row_may_have_several_dims(%x: tensor<4x8x2xf32>) -> tensor<4x8x2xf32> {
  // CHECK: graph.reduce
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.reduce sum %x over [1, 2] : tensor<4x8x2xf32> -> tensor<4xf32>
  %1 = graph.broadcast %0 to [0] : tensor<4xf32> -> tensor<4x8x2xf32>
  %2 = graph.div %x, %1 : tensor<4x8x2xf32>
  return %2 : tensor<4x8x2xf32>
}

// (G3)
// CHECK-LABEL: @a_dim_of_size_one_behind_a_row_does_not_count(
func.func @a_dim_of_size_one_behind_a_row_does_not_count(%x: tensor<4x8x1xf32>) -> tensor<4x8x1xf32> {
  // CHECK: graph.reduce
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.reduce sum %x over [1] : tensor<4x8x1xf32> -> tensor<4x1xf32>
  %1 = graph.broadcast %0 to [0, 2] : tensor<4x1xf32> -> tensor<4x8x1xf32>
  %2 = graph.div %x, %1 : tensor<4x8x1xf32>
  return %2 : tensor<4x8x1xf32>
}

// (G4)
// CHECK-LABEL: @a_group_of_rows_gives_whole_values_and_sums(
func.func @a_group_of_rows_gives_whole_values_and_sums(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]]:2 = graph.fusion
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: %[[S:.*]] = graph.reduce sum %[[E]]
  // CHECK: graph.yield %[[E]], %[[S]]
  // CHECK: return %[[R]]#0, %[[R]]#1
  %0 = graph.exp %x : tensor<4x8xf32>
  %1 = graph.reduce sum %0 over [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4xf32>
}

// (G4)
// CHECK-LABEL: @a_group_of_column_sums_gives_no_whole_value(
func.func @a_group_of_column_sums_gives_no_whole_value(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  // CHECK-NOT: graph.yield %{{.*}}, %
  // CHECK: return
  %0 = graph.exp %x : tensor<4x8xf32>
  %1 = graph.reduce sum %0 over [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<8xf32>
}

// (G4)
// CHECK-LABEL: @the_square_root_of_a_column_sum_waits_outside(
func.func @the_square_root_of_a_column_sum_waits_outside(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: graph.reduce
  // CHECK: graph.yield
  // CHECK: graph.fusion
  // CHECK: graph.sqrt
  %0 = graph.reduce sum %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = graph.sqrt %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// (G5)
// CHECK-LABEL: @a_cheap_value_is_computed_at_every_point(
func.func @a_cheap_value_is_computed_at_every_point(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.neg
  // CHECK-NOT: graph.fusion
  // CHECK: graph.add
  %0 = graph.neg %b : tensor<8xf32>
  %1 = graph.broadcast %0 to [1] : tensor<8xf32> -> tensor<4x8xf32>
  %2 = graph.add %x, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// (G5)
// CHECK-LABEL: @a_costly_value_is_computed_once(
func.func @a_costly_value_is_computed_once(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[E:.*]] = graph.fusion
  // CHECK: graph.exp
  // CHECK: graph.fusion ({{.*}}%[[E]]
  // CHECK: graph.add
  %0 = graph.exp %b : tensor<8xf32>
  %1 = graph.broadcast %0 to [1] : tensor<8xf32> -> tensor<4x8xf32>
  %2 = graph.add %x, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// CHECK-LABEL: @each_group_gets_its_own_clone_of_a_constant(
func.func @each_group_gets_its_own_clone_of_a_constant(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.constant dense<2.000000e+00>
  // CHECK: graph.dot_general
  // CHECK: graph.fusion
  // CHECK: graph.constant dense<2.000000e+00>
  // CHECK: return
  %two = graph.constant dense<2.0> : tensor<f32>
  %c = graph.broadcast %two to [] : tensor<f32> -> tensor<4x4xf32>
  %0 = graph.mul %x, %c : tensor<4x4xf32>
  %1 = graph.dot_general %0, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = graph.mul %1, %c : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: @a_reshape_that_adds_a_dim_of_size_one_is_cloned(
func.func @a_reshape_that_adds_a_dim_of_size_one_is_cloned(%x: tensor<4x8xf32>) -> tensor<4x1x8xf32> {
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: graph.reshape
  // CHECK-NEXT: graph.neg
  // CHECK-NEXT: graph.yield
  %0 = graph.exp %x : tensor<4x8xf32>
  %1 = graph.reshape %0 : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %2 = graph.neg %1 : tensor<4x1x8xf32>
  return %2 : tensor<4x1x8xf32>
}

// CHECK-LABEL: @a_reshape_that_splits_a_dim_stays_between_two_groups(
func.func @a_reshape_that_splits_a_dim_stays_between_two_groups(%x: tensor<4x8xf32>) -> tensor<2x2x8xf32> {
  // CHECK: %[[E:.*]] = graph.fusion
  // CHECK: graph.exp
  // CHECK: %[[S:.*]] = graph.reshape %[[E]]
  // CHECK: graph.fusion (%{{.*}} = %[[S]]
  %0 = graph.exp %x : tensor<4x8xf32>
  %1 = graph.reshape %0 : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %2 = graph.neg %1 : tensor<2x2x8xf32>
  return %2 : tensor<2x2x8xf32>
}

// CHECK-LABEL: @a_broadcast_that_a_matmul_reads_is_a_group(
func.func @a_broadcast_that_a_matmul_reads_is_a_group(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[B:.*]] = graph.fusion
  // CHECK-NEXT: graph.broadcast
  // CHECK-NEXT: graph.yield
  // CHECK: graph.dot_general %arg0, %[[B]]
  %0 = graph.broadcast %b to [1] : tensor<4xf32> -> tensor<4x4xf32>
  %1 = graph.dot_general %x, %0 batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: @a_splat_that_a_matmul_reads_stays_a_constant(
func.func @a_splat_that_a_matmul_reads_stays_a_constant(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NOT: graph.fusion
  // CHECK: graph.dot_general
  // CHECK: return
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.broadcast %one to [] : tensor<f32> -> tensor<4x4xf32>
  %1 = graph.dot_general %x, %0 batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: @an_op_waits_for_the_matmul_that_its_reader_needs(
func.func @an_op_waits_for_the_matmul_that_its_reader_needs(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: graph.dot_general %arg0, %arg1
  // CHECK: graph.fusion
  // CHECK: graph.exp
  // CHECK: graph.add
  // CHECK: graph.yield
  // CHECK-NOT: graph.fusion
  %0 = graph.exp %x : tensor<4x4xf32>
  %1 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: @an_op_without_readers_is_erased(
func.func @an_op_without_readers_is_erased(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.exp
  // CHECK: return
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.neg %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @readers_of_one_value_that_reduce_nothing_stay_apart(
func.func @readers_of_one_value_that_reduce_nothing_stay_apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: graph.fusion
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.neg %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @a_gather_is_a_kernel_of_its_own(
func.func @a_gather_is_a_kernel_of_its_own(%x: tensor<9x4xf32>, %i: tensor<5xi64>) -> tensor<5x4xf32> {
  // CHECK: %[[G:.*]] = graph.gather %arg0
  // CHECK: graph.fusion (%{{.*}} = %[[G]]
  %0 = graph.gather %x at %i dim 0 : tensor<9x4xf32>, tensor<5xi64> -> tensor<5x4xf32>
  %1 = graph.neg %0 : tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}
