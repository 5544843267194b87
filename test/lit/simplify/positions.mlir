// Integer tensors that are affine in their indices: comparisons, sums and lookups of them.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @comparisons_that_hold_at_every_position
func.func @comparisons_that_hold_at_every_position() -> (tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {
  // CHECK-NEXT: %[[T:.*]] = graph.constant dense<true>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[T]]
  // CHECK-NEXT: return %[[B]], %[[B]], %[[B]], %[[B]]
  %i = graph.iota dim 0 : tensor<7xi64>
  %six = graph.constant dense<6> : tensor<7xi64>
  %seven = graph.constant dense<7> : tensor<7xi64>
  %less = graph.constant dense<-1> : tensor<7xi64>
  %0 = graph.compare lt %i, %seven : tensor<7xi64>
  %1 = graph.compare le %i, %six : tensor<7xi64>
  %2 = graph.compare gt %i, %less : tensor<7xi64>
  %3 = graph.compare ne %i, %seven : tensor<7xi64>
  return %0, %1, %2, %3 : tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
}

// CHECK-LABEL: @comparisons_that_hold_at_no_position
func.func @comparisons_that_hold_at_no_position() -> (tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {
  // CHECK-NEXT: %[[F:.*]] = graph.constant dense<false>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[F]]
  // CHECK-NEXT: return %[[B]], %[[B]], %[[B]], %[[B]], %[[B]]
  %i = graph.iota dim 0 : tensor<7xi64>
  %zero = graph.constant dense<0> : tensor<7xi64>
  %six = graph.constant dense<6> : tensor<7xi64>
  %seven = graph.constant dense<7> : tensor<7xi64>
  %less = graph.constant dense<-1> : tensor<7xi64>
  %0 = graph.compare ge %i, %seven : tensor<7xi64>
  %1 = graph.compare gt %i, %six : tensor<7xi64>
  %2 = graph.compare le %i, %less : tensor<7xi64>
  %3 = graph.compare eq %i, %seven : tensor<7xi64>
  %4 = graph.compare lt %i, %zero : tensor<7xi64>
  return %0, %1, %2, %3, %4 : tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
}

// The bounds are the first and the last position.
// CHECK-LABEL: @comparisons_that_one_position_decides_otherwise
func.func @comparisons_that_one_position_decides_otherwise() -> (tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {
  // CHECK-DAG: graph.compare gt
  // CHECK-DAG: graph.compare lt
  // CHECK-DAG: graph.compare eq
  // CHECK-DAG: graph.compare ne
  %i = graph.iota dim 0 : tensor<7xi64>
  %zero = graph.constant dense<0> : tensor<7xi64>
  %six = graph.constant dense<6> : tensor<7xi64>
  %0 = graph.compare gt %i, %zero : tensor<7xi64>
  %1 = graph.compare lt %i, %six : tensor<7xi64>
  %2 = graph.compare eq %i, %six : tensor<7xi64>
  %3 = graph.compare ne %i, %zero : tensor<7xi64>
  return %0, %1, %2, %3 : tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
}

// CHECK-LABEL: @symbolic_positions_are_less_than_their_number
func.func @symbolic_positions_are_less_than_their_number() -> tensor<?xi1, #graph.dims<["s"]>> {
  // CHECK-NEXT: %[[T:.*]] = graph.constant dense<true>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[T]]
  // CHECK-NEXT: return %[[B]]
  %i = graph.iota dim 0 : tensor<?xi64, #graph.dims<["s"]>>
  %n = graph.sizes ["s"] : tensor<i64>
  %ns = graph.broadcast %n to [] : tensor<i64> -> tensor<?xi64, #graph.dims<["s"]>>
  %0 = graph.compare lt %i, %ns : tensor<?xi64, #graph.dims<["s"]>>
  return %0 : tensor<?xi1, #graph.dims<["s"]>>
}

// CHECK-LABEL: @symbolic_positions_and_another_number_are_compared
func.func @symbolic_positions_and_another_number_are_compared() -> tensor<?xi1, #graph.dims<["s"]>> {
  // CHECK: graph.compare lt
  %i = graph.iota dim 0 : tensor<?xi64, #graph.dims<["s"]>>
  %n = graph.sizes ["t"] : tensor<i64>
  %ns = graph.broadcast %n to [] : tensor<i64> -> tensor<?xi64, #graph.dims<["s"]>>
  %0 = graph.compare lt %i, %ns : tensor<?xi64, #graph.dims<["s"]>>
  return %0 : tensor<?xi1, #graph.dims<["s"]>>
}

// CHECK-LABEL: @a_quotient_of_sizes_is_not_known
func.func @a_quotient_of_sizes_is_not_known() -> tensor<?xi1, #graph.dims<["s"]>> {
  // CHECK: graph.compare lt
  %i = graph.iota dim 0 : tensor<?xi64, #graph.dims<["s"]>>
  %n = graph.sizes ["s"] {divisor = "2"} : tensor<i64>
  %ns = graph.broadcast %n to [] : tensor<i64> -> tensor<?xi64, #graph.dims<["s"]>>
  %0 = graph.compare lt %i, %ns : tensor<?xi64, #graph.dims<["s"]>>
  return %0 : tensor<?xi1, #graph.dims<["s"]>>
}

// CHECK-LABEL: @the_difference_of_equal_positions_is_zero_whatever_moved_them
func.func @the_difference_of_equal_positions_is_zero_whatever_moved_them() -> tensor<3x4xi64> {
  // CHECK-NEXT: %[[Z:.*]] = graph.constant dense<0> : tensor<i64>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[Z]]
  // CHECK-NEXT: return %[[B]]
  %four = graph.constant dense<4> : tensor<3x4xi64>
  %flat = graph.iota dim 0 : tensor<12xi64>
  %0 = graph.reshape %flat : tensor<12xi64> -> tensor<3x4xi64>
  %row = graph.iota dim 0 : tensor<3x4xi64>
  %column = graph.iota dim 1 : tensor<3x4xi64>
  %1 = graph.mul %row, %four : tensor<3x4xi64>
  %2 = graph.add %1, %column : tensor<3x4xi64>
  %3 = graph.sub %0, %2 : tensor<3x4xi64>
  return %3 : tensor<3x4xi64>
}

// CHECK-LABEL: @the_difference_of_transposed_positions_is_computed
func.func @the_difference_of_transposed_positions_is_computed() -> tensor<4x4xi64> {
  // CHECK: graph.sub
  %row = graph.iota dim 0 : tensor<4x4xi64>
  %column = graph.transpose %row by [1, 0] : tensor<4x4xi64> -> tensor<4x4xi64>
  %0 = graph.sub %row, %column : tensor<4x4xi64>
  return %0 : tensor<4x4xi64>
}

// Positions 0, 3, 6, … of 12, and the same as multiples of 3.
// CHECK-LABEL: @a_slice_with_a_stride_counts_in_steps
func.func @a_slice_with_a_stride_counts_in_steps() -> tensor<4xi64> {
  // CHECK-NEXT: %[[Z:.*]] = graph.constant dense<0> : tensor<i64>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[Z]]
  // CHECK-NEXT: return %[[B]]
  %three = graph.constant dense<3> : tensor<4xi64>
  %all = graph.iota dim 0 : tensor<12xi64>
  %0 = graph.slice %all dim 0 from 0 step 3 : tensor<12xi64> -> tensor<4xi64>
  %i = graph.iota dim 0 : tensor<4xi64>
  %1 = graph.mul %i, %three : tensor<4xi64>
  %2 = graph.sub %0, %1 : tensor<4xi64>
  return %2 : tensor<4xi64>
}

// Positions of single precision are exact up to 2^24, those of half precision are not.
// CHECK-LABEL: @positions_as_floats_are_compared_where_they_are_exact
func.func @positions_as_floats_are_compared_where_they_are_exact() -> (tensor<7xi1>, tensor<7xi1>) {
  // CHECK-NOT: graph.compare {{.*}}xf32
  // CHECK: graph.compare ge {{.*}} tensor<7xf16>
  // CHECK-NOT: graph.compare {{.*}}xf32
  // CHECK: return
  %i = graph.iota dim 0 : tensor<7xf32>
  %zero = graph.constant dense<0.0> : tensor<7xf32>
  %0 = graph.compare ge %i, %zero : tensor<7xf32>
  %h = graph.iota dim 0 : tensor<7xf16>
  %none = graph.constant dense<0.0> : tensor<7xf16>
  %1 = graph.compare ge %h, %none : tensor<7xf16>
  return %0, %1 : tensor<7xi1>, tensor<7xi1>
}

// CHECK-LABEL: @positions_of_few_bits_may_wrap_around
func.func @positions_of_few_bits_may_wrap_around() -> tensor<5000xi1> {
  // CHECK: graph.compare ge
  %i = graph.iota dim 0 : tensor<5000xi8>
  %zero = graph.constant dense<0> : tensor<5000xi8>
  %0 = graph.compare ge %i, %zero : tensor<5000xi8>
  return %0 : tensor<5000xi1>
}

// CHECK-LABEL: @a_comparison_with_an_input_stays
func.func @a_comparison_with_an_input_stays(%n: tensor<7xi64>) -> tensor<7xi1> {
  // CHECK: graph.compare lt
  %i = graph.iota dim 0 : tensor<7xi64>
  %0 = graph.compare lt %i, %n : tensor<7xi64>
  return %0 : tensor<7xi1>
}

// CHECK-LABEL: @pieces_that_continue_each_other_count_on
func.func @pieces_that_continue_each_other_count_on() -> tensor<5xi64> {
  // CHECK-NEXT: %[[Z:.*]] = graph.constant dense<0> : tensor<i64>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[Z]]
  // CHECK-NEXT: return %[[B]]
  %three = graph.constant dense<3> : tensor<2xi64>
  %a = graph.iota dim 0 : tensor<3xi64>
  %b = graph.iota dim 0 : tensor<2xi64>
  %next = graph.add %b, %three : tensor<2xi64>
  %0 = graph.concat %a, %next dim 0 : tensor<3xi64>, tensor<2xi64> -> tensor<5xi64>
  %1 = graph.iota dim 0 : tensor<5xi64>
  %2 = graph.sub %0, %1 : tensor<5xi64>
  return %2 : tensor<5xi64>
}

// CHECK-LABEL: @pieces_with_a_gap_between_stay
func.func @pieces_with_a_gap_between_stay() -> tensor<5xi64> {
  // CHECK: graph.sub
  %four = graph.constant dense<4> : tensor<2xi64>
  %a = graph.iota dim 0 : tensor<3xi64>
  %b = graph.iota dim 0 : tensor<2xi64>
  %next = graph.add %b, %four : tensor<2xi64>
  %0 = graph.concat %a, %next dim 0 : tensor<3xi64>, tensor<2xi64> -> tensor<5xi64>
  %1 = graph.iota dim 0 : tensor<5xi64>
  %2 = graph.sub %0, %1 : tensor<5xi64>
  return %2 : tensor<5xi64>
}

// CHECK-LABEL: @a_concat_of_equal_numbers_is_a_splat
func.func @a_concat_of_equal_numbers_is_a_splat() -> tensor<9000xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<7> : tensor<i64>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]]
  // CHECK-NEXT: return %[[B]]
  %a = graph.constant dense<7> : tensor<8000xi64>
  %b = graph.constant dense<7> : tensor<1000xi64>
  %0 = graph.concat %a, %b dim 0 : tensor<8000xi64>, tensor<1000xi64> -> tensor<9000xi64>
  return %0 : tensor<9000xi64>
}

// CHECK-LABEL: @a_concat_of_two_numbers_stays
func.func @a_concat_of_two_numbers_stays() -> tensor<9000xi64> {
  // CHECK: graph.concat
  %a = graph.constant dense<7> : tensor<8000xi64>
  %b = graph.constant dense<8> : tensor<1000xi64>
  %0 = graph.concat %a, %b dim 0 : tensor<8000xi64>, tensor<1000xi64> -> tensor<9000xi64>
  return %0 : tensor<9000xi64>
}

// CHECK-LABEL: @a_count_that_begins_at_one_is_no_iota
func.func @a_count_that_begins_at_one_is_no_iota() -> tensor<3x5x4xi1> {
  // CHECK: graph.compare le {{.*}} : tensor<3x5x4xi64>
  %one = graph.constant dense<1> : tensor<3x5x4xi64>
  %q = graph.iota dim 1 : tensor<3x5x4xi64>
  %k = graph.iota dim 2 : tensor<3x5x4xi64>
  %next = graph.add %q, %one : tensor<3x5x4xi64>
  %0 = graph.compare le %k, %next : tensor<3x5x4xi64>
  return %0 : tensor<3x5x4xi1>
}

// CHECK-LABEL: @an_iota_with_dims_of_size_one_is_reshaped
func.func @an_iota_with_dims_of_size_one_is_reshaped() -> tensor<1x5x1xi64> {
  // CHECK-NEXT: %[[I:.*]] = graph.iota dim 0 : tensor<5xi64>
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[I]] : tensor<5xi64> -> tensor<1x5x1xi64>
  // CHECK-NEXT: return %[[R]]
  %0 = graph.iota dim 1 : tensor<1x5x1xi64>
  return %0 : tensor<1x5x1xi64>
}

// CHECK-LABEL: @an_iota_that_repeats_its_counts_stays
func.func @an_iota_that_repeats_its_counts_stays() -> tensor<2x5xi64> {
  // CHECK-NEXT: %[[I:.*]] = graph.iota dim 1 : tensor<2x5xi64>
  // CHECK-NEXT: return %[[I]]
  %0 = graph.iota dim 1 : tensor<2x5xi64>
  return %0 : tensor<2x5xi64>
}

// CHECK-LABEL: @a_lookup_of_all_rows_is_the_table
func.func @a_lookup_of_all_rows_is_the_table(%table: tensor<6x2xf32>) -> tensor<6x2xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.iota dim 0 : tensor<6xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<6x2xf32>, tensor<6xi64> -> tensor<6x2xf32>
  return %1 : tensor<6x2xf32>
}

// CHECK-LABEL: @a_lookup_of_one_known_row_is_a_slice
func.func @a_lookup_of_one_known_row_is_a_slice(%table: tensor<6x2xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 dim 0 from 4 step 1 : tensor<6x2xf32> -> tensor<1x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[S]] : tensor<1x2xf32> -> tensor<2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[R]] to [1] : tensor<2xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: return %[[B]]
  %four = graph.constant dense<4> : tensor<3xi64>
  %0 = graph.gather %table at %four dim 0 : tensor<6x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: @a_lookup_in_a_later_dim_is_a_slice_of_it
func.func @a_lookup_in_a_later_dim_is_a_slice_of_it(%table: tensor<2x9x3xf32>) -> tensor<2x4x3xf32> {
  // CHECK-NEXT: graph.slice %arg0 dim 1 from 5 step 1 : tensor<2x9x3xf32> -> tensor<2x4x3xf32>
  %places = graph.constant dense<[5, 6, 7, 8]> : tensor<4xi64>
  %0 = graph.gather %table at %places dim 1 : tensor<2x9x3xf32>, tensor<4xi64> -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// The row after the last one is zero.
// CHECK-LABEL: @a_stride_beyond_the_table_stays_a_lookup
func.func @a_stride_beyond_the_table_stays_a_lookup(%table: tensor<7xf32>) -> tensor<4xf32> {
  // CHECK: graph.gather
  %places = graph.constant dense<[1, 3, 5, 7]> : tensor<4xi64>
  %0 = graph.gather %table at %places dim 0 : tensor<7xf32>, tensor<4xi64> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @counting_down_stays_a_lookup
func.func @counting_down_stays_a_lookup(%table: tensor<7xf32>) -> tensor<3xf32> {
  // CHECK: graph.gather
  %places = graph.constant dense<[2, 1, 0]> : tensor<3xi64>
  %0 = graph.gather %table at %places dim 0 : tensor<7xf32>, tensor<3xi64> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @rows_that_two_dims_count_alike_stay_a_lookup
func.func @rows_that_two_dims_count_alike_stay_a_lookup(%table: tensor<9xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.gather
  %places = graph.constant dense<[[0, 1, 2], [1, 2, 3]]> : tensor<2x3xi64>
  %0 = graph.gather %table at %places dim 0 : tensor<9xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @a_lookup_of_each_line_of_a_batch_stays
func.func @a_lookup_of_each_line_of_a_batch_stays(%table: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // CHECK: graph.gather
  %places = graph.iota dim 1 : tensor<2x6xi64>
  %0 = graph.gather %table at %places dim 1 {batch = 1 : i64} : tensor<2x6xf32>, tensor<2x6xi64> -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: @a_symbolic_number_of_positions_is_assumed_to_fit_the_table
func.func @a_symbolic_number_of_positions_is_assumed_to_fit_the_table(%table: tensor<24x2xf32>) -> tensor<?x2xf32, #graph.dims<["s", ""]>> {
  // CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 dim 0 from 0 step 1
  // CHECK-NEXT: return %[[S]]
  %0 = graph.iota dim 0 : tensor<?xi64, #graph.dims<["s"]>>
  %1 = graph.gather %table at %0 dim 0 : tensor<24x2xf32>, tensor<?xi64, #graph.dims<["s"]>> -> tensor<?x2xf32, #graph.dims<["s", ""]>>
  return %1 : tensor<?x2xf32, #graph.dims<["s", ""]>>
}

// CHECK-LABEL: @reversed_positions_are_positions
func.func @reversed_positions_are_positions() -> (tensor<7xi1>, tensor<7xi1>) {
  // CHECK-DAG: graph.constant dense<true>
  // CHECK-DAG: graph.constant dense<false>
  // CHECK-NOT: graph.compare
  // CHECK: return
  %i = graph.iota dim 0 : tensor<7xi64>
  %back = graph.reverse %i dim 0 : tensor<7xi64>
  %sum = graph.add %i, %back : tensor<7xi64>
  %six = graph.constant dense<6> : tensor<7xi64>
  %0 = graph.compare eq %sum, %six : tensor<7xi64>
  %1 = graph.compare gt %back, %six : tensor<7xi64>
  return %0, %1 : tensor<7xi1>, tensor<7xi1>
}

// Positions that run backwards along the other dim are still compared with those of their own.
// CHECK-LABEL: @a_reversed_comparison_is_not_causal
// CHECK: graph.attention
// CHECK-NOT: causal
// CHECK: return
func.func @a_reversed_comparison_is_not_causal(%q: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %i = graph.iota dim 1 : tensor<3x5x5xi64>
  %j = graph.iota dim 2 : tensor<3x5x5xi64>
  %c = graph.compare le %j, %i : tensor<3x5x5xi64>
  %m = graph.reverse %c dim 1 : tensor<3x5x5xi1>
  %y, %lse_y = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %y : tensor<3x5x8xf32>
}
