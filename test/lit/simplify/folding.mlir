// Ops on known operands: when the result is written out, when it is a splat, and when the op stays.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @elementwise_ops_on_a_small_table_are_written_out
func.func @elementwise_ops_on_a_small_table_are_written_out() -> tensor<3xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[2.000000e+00, 5.000000e+00, 4.000000e+00]> : tensor<3xf32>
  // CHECK-NEXT: return %[[C]]
  %table = graph.constant dense<[1.0, 4.0, 3.0]> : tensor<3xf32>
  %one = graph.constant dense<1.0> : tensor<3xf32>
  %0 = graph.add %table, %one : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @a_table_that_becomes_equal_everywhere_is_a_splat
func.func @a_table_that_becomes_equal_everywhere_is_a_splat() -> tensor<3xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]] to [] : tensor<f32> -> tensor<3xf32>
  // CHECK-NEXT: return %[[B]]
  %table = graph.constant dense<[1.0, 4.0, 3.0]> : tensor<3xf32>
  %0 = graph.sub %table, %table : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @a_reduction_of_equal_elements_is_known
func.func @a_reduction_of_equal_elements_is_known() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: %[[S:.*]] = graph.constant dense<1.200000e+01> : tensor<f32>
  // CHECK-DAG: %[[M:.*]] = graph.constant dense<3.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[SS:.*]] = graph.broadcast %[[S]]
  // CHECK-DAG: %[[MM:.*]] = graph.broadcast %[[M]]
  // CHECK: return %[[SS]], %[[MM]]
  %three = graph.constant dense<3.0> : tensor<2x4xf32>
  %0 = graph.reduce sum %three over [1] : tensor<2x4xf32> -> tensor<2xf32>
  %1 = graph.reduce max %three over [1] : tensor<2x4xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @equal_elements_are_not_moved
func.func @equal_elements_are_not_moved() -> (tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<5.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.broadcast %[[C]] to [] : tensor<f32> -> tensor<6xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]] to [] : tensor<f32> -> tensor<3x2xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.broadcast %[[C]] to [] : tensor<f32> -> tensor<1x3xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.broadcast %[[C]] to [] : tensor<f32> -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[A]], %[[B]], %[[D]], %[[E]]
  %five = graph.constant dense<5.0> : tensor<2x3xf32>
  %0 = graph.reshape %five : tensor<2x3xf32> -> tensor<6xf32>
  %1 = graph.transpose %five by [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %2 = graph.slice %five dim 0 from 1 step 1 : tensor<2x3xf32> -> tensor<1x3xf32>
  %3 = graph.reverse %five dim 1 : tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @equal_elements_of_symbolic_number_are_folded
func.func @equal_elements_of_symbolic_number_are_folded() -> tensor<?xf32, #graph.dims<["s"]>> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<6.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]] to []
  // CHECK-NEXT: return %[[B]]
  %two = graph.constant dense<2.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.broadcast %two to [] : tensor<f32> -> tensor<?xf32, #graph.dims<["s"]>>
  %1 = graph.broadcast %three to [] : tensor<f32> -> tensor<?xf32, #graph.dims<["s"]>>
  %2 = graph.mul %0, %1 : tensor<?xf32, #graph.dims<["s"]>>
  return %2 : tensor<?xf32, #graph.dims<["s"]>>
}

// In half precision, 0.1 is 0.09998.
// CHECK-LABEL: @a_folded_number_is_rounded_to_its_type
func.func @a_folded_number_is_rounded_to_its_type() -> tensor<4xf32> {
  // CHECK: graph.constant dense<0.0999755859> : tensor<f32>
  %tenth = graph.constant dense<0.1> : tensor<4xf32>
  %0 = graph.cast %tenth : tensor<4xf32> -> tensor<4xf16>
  %1 = graph.cast %0 : tensor<4xf16> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @integers_of_a_narrow_type_wrap_around
func.func @integers_of_a_narrow_type_wrap_around() -> tensor<4xi8> {
  // CHECK: graph.constant dense<-56> : tensor<i8>
  %hundred = graph.constant dense<100> : tensor<4xi8>
  %0 = graph.add %hundred, %hundred : tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: @tables_of_more_than_4096_elements_stay
func.func @tables_of_more_than_4096_elements_stay() -> (tensor<4096xf32>, tensor<4097xf32>) {
  // CHECK-NOT: graph.cos {{.*}} tensor<4096xf32>
  // CHECK: graph.cos {{.*}} tensor<4097xf32>
  %0 = graph.iota dim 0 : tensor<4096xf32>
  %1 = graph.cos %0 : tensor<4096xf32>
  %2 = graph.iota dim 0 : tensor<4097xf32>
  %3 = graph.cos %2 : tensor<4097xf32>
  return %1, %3 : tensor<4096xf32>, tensor<4097xf32>
}

// CHECK-LABEL: @a_cheap_op_on_positions_stays_computed_and_a_costly_one_is_written_out
func.func @a_cheap_op_on_positions_stays_computed_and_a_costly_one_is_written_out() -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK-DAG: %[[E:.*]] = graph.constant dense<[1.000000e+00, 2.71828{{[0-9]*}}, 7.3890{{[0-9]*}}]>
  // CHECK-DAG: %[[I:.*]] = graph.iota dim 0 : tensor<3xf32>
  // CHECK-DAG: %[[S:.*]] = graph.mul %[[I]], %[[I]]
  // CHECK: return %[[S]], %[[E]]
  %0 = graph.iota dim 0 : tensor<3xf32>
  %1 = graph.mul %0, %0 : tensor<3xf32>
  %2 = graph.exp %0 : tensor<3xf32>
  return %1, %2 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @an_op_with_an_unknown_operand_stays
func.func @an_op_with_an_unknown_operand_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: %[[C:.*]] = graph.constant dense<[1.000000e+00, 4.000000e+00, 3.000000e+00]>
  // CHECK-NEXT: graph.mul %arg0, %[[C]]
  %table = graph.constant dense<[1.0, 4.0, 3.0]> : tensor<3xf32>
  %0 = graph.mul %x, %table : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @a_lookup_in_a_table_at_known_places_is_written_out
func.func @a_lookup_in_a_table_at_known_places_is_written_out() -> tensor<3xf32> {
  // CHECK: %[[C:.*]] = graph.constant dense<[9.000000e+00, 5.000000e+00, 0.000000e+00]> : tensor<3xf32>
  // CHECK-NEXT: return %[[C]]
  %table = graph.constant dense<[5.0, 7.0, 9.0]> : tensor<3xf32>
  %places = graph.constant dense<[2, 0, 3]> : tensor<3xi64>
  %0 = graph.gather %table at %places dim 0 : tensor<3xf32>, tensor<3xi64> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Elements of symbolic sizes are known only once the symbols have values.
// CHECK-LABEL: @a_symbolic_size_is_not_written_out
func.func @a_symbolic_size_is_not_written_out() -> tensor<1xi64> {
  // CHECK: %[[S:.*]] = graph.sizes ["s"]
  // CHECK: graph.mul %[[S]]
  %three = graph.constant dense<3> : tensor<1xi64>
  %0 = graph.sizes ["s"] : tensor<1xi64>
  %1 = graph.mul %0, %three : tensor<1xi64>
  return %1 : tensor<1xi64>
}

// CHECK-LABEL: @a_scan_of_its_neutral_element_changes_nothing
func.func @a_scan_of_its_neutral_element_changes_nothing() -> (tensor<8192xf32>, tensor<8192xf32>) {
  // CHECK-DAG: %[[Z:.*]] = graph.constant dense<0.000000e+00>
  // CHECK-DAG: %[[O:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[ZS:.*]] = graph.broadcast %[[Z]]
  // CHECK-DAG: %[[OS:.*]] = graph.broadcast %[[O]]
  // CHECK: return %[[ZS]], %[[OS]]
  %zero = graph.constant dense<0.0> : tensor<8192xf32>
  %one = graph.constant dense<1.0> : tensor<8192xf32>
  %0 = graph.scan sum %zero dim 0 : tensor<8192xf32>
  %1 = graph.scan prod %one dim 0 : tensor<8192xf32>
  return %0, %1 : tensor<8192xf32>, tensor<8192xf32>
}

// CHECK-LABEL: @a_scan_for_the_greatest_of_equal_elements_changes_nothing
func.func @a_scan_for_the_greatest_of_equal_elements_changes_nothing() -> (tensor<8192xf32>, tensor<8192xf32>) {
  // CHECK: %[[B:.*]] = graph.broadcast
  // CHECK-NEXT: return %[[B]], %[[B]]
  %five = graph.constant dense<5.0> : tensor<8192xf32>
  %0 = graph.scan max %five dim 0 : tensor<8192xf32>
  %1 = graph.scan min %five dim 0 : tensor<8192xf32>
  return %0, %1 : tensor<8192xf32>, tensor<8192xf32>
}

// CHECK-LABEL: @a_sum_of_ones_counts
func.func @a_sum_of_ones_counts() -> tensor<8192xf32> {
  // CHECK: graph.scan sum
  %one = graph.constant dense<1.0> : tensor<8192xf32>
  %0 = graph.scan sum %one dim 0 : tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// CHECK-LABEL: @a_scan_of_unknown_elements_stays
func.func @a_scan_of_unknown_elements_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.scan max %arg0
  %0 = graph.scan max %x dim 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_scalar_constant_stays_as_it_is
func.func @a_scalar_constant_stays_as_it_is() -> tensor<i64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<7> : tensor<i64>
  // CHECK-NEXT: return %[[C]]
  %0 = graph.constant dense<7> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: @numbers_that_count_down_or_in_steps_are_a_table
func.func @numbers_that_count_down_or_in_steps_are_a_table() -> (tensor<3xi64>, tensor<3xi64>) {
  // CHECK-DAG: graph.constant dense<[2, 1, 0]>
  // CHECK-DAG: graph.constant dense<[0, 2, 4]>
  %0 = graph.constant dense<[2, 1, 0]> : tensor<3xi64>
  %1 = graph.constant dense<[0, 2, 4]> : tensor<3xi64>
  return %0, %1 : tensor<3xi64>, tensor<3xi64>
}
