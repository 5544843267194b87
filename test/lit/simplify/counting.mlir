// Ops on positions alone are replaced by simpler ones.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// As transformers' masks tell packed sequences apart: positions that do not follow each other begin a new one.
// CHECK-LABEL: @positions_that_follow_each_other_are_one_sequence
func.func @positions_that_follow_each_other_are_one_sequence() -> tensor<2x12xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<0> : tensor<i64>
  // CHECK-NEXT: %[[Z:.*]] = graph.broadcast %[[C]] to []
  // CHECK-NEXT: return %[[Z]]
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.iota dim 1 : tensor<2x12xi64>
  %1 = graph.slice %0 dim 1 from 0 step 1 : tensor<2x12xi64> -> tensor<2x1xi64>
  %2 = graph.broadcast %one to [] : tensor<i64> -> tensor<2x1xi64>
  %3 = graph.sub %1, %2 : tensor<2x1xi64>
  %4 = graph.concat %3, %0 dim 1 : tensor<2x1xi64>, tensor<2x12xi64> -> tensor<2x13xi64>
  %5 = graph.slice %4 dim 1 from 0 step 1 : tensor<2x13xi64> -> tensor<2x12xi64>
  %6 = graph.sub %0, %5 : tensor<2x12xi64>
  %7 = graph.broadcast %one to [] : tensor<i64> -> tensor<2x12xi64>
  %8 = graph.compare ne %6, %7 : tensor<2x12xi64>
  %9 = graph.cast %8 : tensor<2x12xi1> -> tensor<2x12xi64>
  %10 = graph.scan sum %9 dim 1 : tensor<2x12xi64>
  return %10 : tensor<2x12xi64>
}

// The elements of a padding mask by batch and key, as a lookup in a flat tensor.
// CHECK-LABEL: @a_lookup_by_batch_and_position_is_a_broadcast
func.func @a_lookup_by_batch_and_position_is_a_broadcast(%mask: tensor<8x12xi1>) -> tensor<8x1x5x12xi1> {
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %arg0 to [0, 3] : tensor<8x12xi1> -> tensor<8x1x5x12xi1>
  // CHECK-NEXT: return %[[B]]
  %flat = graph.reshape %mask : tensor<8x12xi1> -> tensor<96xi1>
  %batch = graph.iota dim 0 : tensor<8x1x5x12xi64>
  %key = graph.iota dim 3 : tensor<8x1x5x12xi64>
  %twelve = graph.constant dense<12> : tensor<8x1x5x12xi64>
  %0 = graph.mul %batch, %twelve : tensor<8x1x5x12xi64>
  %1 = graph.add %0, %key : tensor<8x1x5x12xi64>
  %2 = graph.gather %flat at %1 dim 0 : tensor<96xi1>, tensor<8x1x5x12xi64> -> tensor<8x1x5x12xi1>
  return %2 : tensor<8x1x5x12xi1>
}

// CHECK-LABEL: @every_second_row_is_a_slice_with_a_stride
func.func @every_second_row_is_a_slice_with_a_stride(%table: tensor<9x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 dim 0 from 1 step 2 : tensor<9x2xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: return %[[S]]
  %0 = graph.constant dense<[1, 3, 5, 7]> : tensor<4xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<9x2xf32>, tensor<4xi64> -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// Columns first: the rows of the table are read across.
// CHECK-LABEL: @counting_down_the_columns_is_a_transpose
func.func @counting_down_the_columns_is_a_transpose(%table: tensor<6xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : tensor<6xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %[[R]] by [1, 0]
  // CHECK-NEXT: return %[[T]]
  %0 = graph.constant dense<[[0, 2, 4], [1, 3, 5]]> : tensor<2x3xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<6xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// A causal mask as transformers builds it; other exporters compare two iotas at once.
// CHECK-LABEL: @counts_are_compared_where_they_count
func.func @counts_are_compared_where_they_count() -> (tensor<1x1x12x5xi1>, tensor<3x12x5xi1>) {
  // CHECK-DAG: %[[Q:.*]] = graph.iota dim 0 : tensor<12x5xi64>
  // CHECK-DAG: %[[K:.*]] = graph.iota dim 1 : tensor<12x5xi64>
  // CHECK: %[[M:.*]] = graph.compare le %[[K]], %[[Q]] : tensor<12x5xi64>
  // CHECK-DAG: %[[A:.*]] = graph.reshape %[[M]] : tensor<12x5xi1> -> tensor<1x1x12x5xi1>
  // CHECK-DAG: %[[B:.*]] = graph.broadcast %[[M]] to [1, 2] : tensor<12x5xi1> -> tensor<3x12x5xi1>
  // CHECK: return %[[A]], %[[B]]
  %queries = graph.iota dim 0 : tensor<12xi64>
  %keys = graph.iota dim 0 : tensor<5xi64>
  %0 = graph.reshape %queries : tensor<12xi64> -> tensor<1x1x12xi64>
  %1 = graph.reshape %keys : tensor<5xi64> -> tensor<1x1x5xi64>
  %2 = graph.broadcast %0 to [0, 1, 2] : tensor<1x1x12xi64> -> tensor<1x1x12x5xi64>
  %3 = graph.broadcast %1 to [0, 1, 3] : tensor<1x1x5xi64> -> tensor<1x1x12x5xi64>
  %4 = graph.compare le %3, %2 : tensor<1x1x12x5xi64>
  %5 = graph.broadcast %queries to [1] : tensor<12xi64> -> tensor<3x12x5xi64>
  %6 = graph.broadcast %keys to [2] : tensor<5xi64> -> tensor<3x12x5xi64>
  %7 = graph.compare le %6, %5 : tensor<3x12x5xi64>
  return %4, %7 : tensor<1x1x12x5xi1>, tensor<3x12x5xi1>
}

// CHECK-LABEL: @every_position_is_at_least_the_first
func.func @every_position_is_at_least_the_first() -> tensor<7xi1> {
  // CHECK: graph.constant dense<true>
  // CHECK-NOT: graph.compare
  %0 = graph.iota dim 0 : tensor<7xi64>
  %1 = graph.constant dense<0> : tensor<7xi64>
  %2 = graph.compare ge %0, %1 : tensor<7xi64>
  return %2 : tensor<7xi1>
}

// CHECK-LABEL: @some_positions_are_less_than_three
func.func @some_positions_are_less_than_three() -> tensor<7xi1> {
  // CHECK: graph.compare
  %0 = graph.iota dim 0 : tensor<7xi64>
  %1 = graph.constant dense<3> : tensor<7xi64>
  %2 = graph.compare lt %0, %1 : tensor<7xi64>
  return %2 : tensor<7xi1>
}

// CHECK-LABEL: @numbers_with_gaps_stay_a_lookup
func.func @numbers_with_gaps_stay_a_lookup(%table: tensor<30xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.gather
  %0 = graph.constant dense<[[0, 1, 2], [5, 6, 7]]> : tensor<2x3xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<30xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: @positions_before_the_table_stay_a_lookup
func.func @positions_before_the_table_stay_a_lookup(%table: tensor<30xf32>) -> tensor<4xf32> {
  // CHECK: graph.gather
  %0 = graph.constant dense<[-1, 0, 1, 2]> : tensor<4xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<30xf32>, tensor<4xi64> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// NaN equals no number, and zeros of both signs are two values.
// CHECK-LABEL: @tables_that_follow_no_rule
func.func @tables_that_follow_no_rule() -> (tensor<2x2xf32>, tensor<2xf32>) {
  // CHECK-DAG: graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [0x7FC00000, 1.000000e+00]]>
  // CHECK-DAG: graph.constant dense<[0.000000e+00, -0.000000e+00]>
  %0 = graph.constant dense<[[1.0, 2.0], [0x7FC00000, 1.0]]> : tensor<2x2xf32>
  %1 = graph.constant dense<[0.0, -0.0]> : tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}
