// Types with symbolic sizes: what the verifiers infer and compare is a polynomial, not a text.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @a_comparison_and_a_sort_keep_symbolic_dims
func.func @a_comparison_and_a_sort_keep_symbolic_dims(%x: tensor<?x?xf32, #graph.dims<["n", "2*m"]>>)
    -> (tensor<?x?xi1, #graph.dims<["n", "2*m"]>>, tensor<?x?xi64, #graph.dims<["n", "2*m"]>>) {
  %0 = graph.compare lt %x, %x : tensor<?x?xf32, #graph.dims<["n", "2*m"]>>
  %1, %2 = graph.sort %x dim 1 : tensor<?x?xf32, #graph.dims<["n", "2*m"]>>
  // CHECK: return %{{.*}}, %{{.*}} : tensor<?x?xi1, #graph.dims<["n", "2*m"]>>, tensor<?x?xi64, #graph.dims<["n", "2*m"]>>
  return %0, %2 : tensor<?x?xi1, #graph.dims<["n", "2*m"]>>, tensor<?x?xi64, #graph.dims<["n", "2*m"]>>
}

// CHECK-LABEL: @a_transpose_permutes_symbols
func.func @a_transpose_permutes_symbols(%x: tensor<?x3x?xf32, #graph.dims<["n", "", "m"]>>) -> tensor<?x?x3xf32, #graph.dims<["m", "n", ""]>> {
  %0 = graph.transpose %x by [2, 0, 1] : tensor<?x3x?xf32, #graph.dims<["n", "", "m"]>> -> tensor<?x?x3xf32, #graph.dims<["m", "n", ""]>>
  return %0 : tensor<?x?x3xf32, #graph.dims<["m", "n", ""]>>
}

// The encoding goes with the last symbolic dim.
// CHECK-LABEL: @a_reduction_of_the_only_symbol_is_static
func.func @a_reduction_of_the_only_symbol_is_static(%x: tensor<?x3xf32, #graph.dims<["n", ""]>>) -> tensor<3xf32> {
  %0 = graph.reduce sum %x over [0] : tensor<?x3xf32, #graph.dims<["n", ""]>> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @a_product_takes_its_symbols_from_both_sides
func.func @a_product_takes_its_symbols_from_both_sides(%x: tensor<?x?x4xf32, #graph.dims<["b", "n", ""]>>, %w: tensor<?x4x?xf32, #graph.dims<["b", "", "m"]>>)
    -> tensor<?x?x?xf32, #graph.dims<["b", "n", "m"]>> {
  %0 = graph.dot_general %x, %w batch [0] x [0] contract [2] x [1]
    : tensor<?x?x4xf32, #graph.dims<["b", "n", ""]>>, tensor<?x4x?xf32, #graph.dims<["b", "", "m"]>> -> tensor<?x?x?xf32, #graph.dims<["b", "n", "m"]>>
  return %0 : tensor<?x?x?xf32, #graph.dims<["b", "n", "m"]>>
}

// CHECK-LABEL: @a_gather_takes_its_symbols_from_the_indices
func.func @a_gather_takes_its_symbols_from_the_indices(%t: tensor<64x8xf32>, %i: tensor<?x?xi64, #graph.dims<["n", "m"]>>) -> tensor<?x?x8xf32, #graph.dims<["n", "m", ""]>> {
  %0 = graph.gather %t at %i dim 0 : tensor<64x8xf32>, tensor<?x?xi64, #graph.dims<["n", "m"]>> -> tensor<?x?x8xf32, #graph.dims<["n", "m", ""]>>
  return %0 : tensor<?x?x8xf32, #graph.dims<["n", "m", ""]>>
}

// CHECK-LABEL: @a_pooling_rounds_symbolic_sizes_down
func.func @a_pooling_rounds_symbolic_sizes_down(%x: tensor<1x3x?xf32, #graph.dims<["", "", "w"]>>) -> tensor<1x3x?xf32, #graph.dims<["", "", "floor(w/2)"]>> {
  %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x?xf32, #graph.dims<["", "", "w"]>> -> tensor<1x3x?xf32, #graph.dims<["", "", "floor(w/2)"]>>
  return %0 : tensor<1x3x?xf32, #graph.dims<["", "", "floor(w/2)"]>>
}

// CHECK-LABEL: @an_attention_over_symbolic_lengths
func.func @an_attention_over_symbolic_lengths(%q: tensor<4x?x8xf32, #graph.dims<["", "n", ""]>>, %k: tensor<2x?x8xf32, #graph.dims<["", "m", ""]>>,
                                              %m: tensor<4x?x?xi1, #graph.dims<["", "n", "m"]>>) -> tensor<4x?x8xf32, #graph.dims<["", "n", ""]>> {
  %0, %lse_0 = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64}
    : (tensor<4x?x8xf32, #graph.dims<["", "n", ""]>>, tensor<2x?x8xf32, #graph.dims<["", "m", ""]>>, tensor<2x?x8xf32, #graph.dims<["", "m", ""]>>,
       tensor<4x?x?xi1, #graph.dims<["", "n", "m"]>>) -> (tensor<4x?x8xf32, #graph.dims<["", "n", ""]>>, tensor<4x?xf32, #graph.dims<["", "n"]>>)
  return %0 : tensor<4x?x8xf32, #graph.dims<["", "n", ""]>>
}

// (n + 1)(n + 1) elements are n^2 + 2n + 1.
// CHECK-LABEL: @a_reshape_multiplies_polynomials
func.func @a_reshape_multiplies_polynomials(%x: tensor<?x?xf32, #graph.dims<["n + 1", "1 + n"]>>) -> tensor<?xf32, #graph.dims<["n^2 + 2*n + 1"]>> {
  %0 = graph.reshape %x : tensor<?x?xf32, #graph.dims<["n + 1", "1 + n"]>> -> tensor<?xf32, #graph.dims<["n^2 + 2*n + 1"]>>
  return %0 : tensor<?xf32, #graph.dims<["n^2 + 2*n + 1"]>>
}

// CHECK-LABEL: @a_concatenation_adds_polynomials
func.func @a_concatenation_adds_polynomials(%x: tensor<?x3xf32, #graph.dims<["n", ""]>>, %y: tensor<2x3xf32>) -> tensor<?x3xf32, #graph.dims<["2*n + 2", ""]>> {
  %0 = graph.concat %x, %y, %x dim 0 : tensor<?x3xf32, #graph.dims<["n", ""]>>, tensor<2x3xf32>, tensor<?x3xf32, #graph.dims<["n", ""]>> -> tensor<?x3xf32, #graph.dims<["2*n + 2", ""]>>
  return %0 : tensor<?x3xf32, #graph.dims<["2*n + 2", ""]>>
}

// CHECK-LABEL: @a_slice_from_a_symbolic_start
func.func @a_slice_from_a_symbolic_start(%x: tensor<?xf32, #graph.dims<["2*n"]>>) -> tensor<?xf32, #graph.dims<["n"]>> {
  // CHECK: graph.slice %arg0 dim 0 from 0 step 1 {symbolic_start = "n"}
  %0 = graph.slice %x dim 0 from 0 step 1 {symbolic_start = "n"} : tensor<?xf32, #graph.dims<["2*n"]>> -> tensor<?xf32, #graph.dims<["n"]>>
  return %0 : tensor<?xf32, #graph.dims<["n"]>>
}

// CHECK-LABEL: @a_pad_by_a_symbolic_number
func.func @a_pad_by_a_symbolic_number(%x: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<?xf32, #graph.dims<["n + m"]>> {
  // CHECK: graph.pad %arg0 dim 0 low 0 {symbolic_low = "m"}
  %0 = graph.pad %x dim 0 low 0 {symbolic_low = "m"} : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xf32, #graph.dims<["n + m"]>>
  return %0 : tensor<?xf32, #graph.dims<["n + m"]>>
}

// Whether 5 elements are in a dim of n depends on n, so the slice is not refused here.
// CHECK-LABEL: @a_slice_that_may_fit_is_accepted
func.func @a_slice_that_may_fit_is_accepted(%x: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<5xf32> {
  %0 = graph.slice %x dim 0 from 0 step 1 : tensor<?xf32, #graph.dims<["n"]>> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// expected-note @below {{the operand has type}}
func.func @a_slice_that_never_fits_is_refused(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{reads element n of a dim of size n}}
  %0 = graph.slice %x dim 0 from 1 step 1 : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

func.func @a_symbolic_start_is_not_negative(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{needs a positive stride and a start of at least 0, found 1 and -n}}
  %0 = graph.slice %x dim 0 from 0 step 1 {symbolic_start = "-n"} : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

func.func @a_symbolic_low_is_not_negative(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{cannot remove elements; slice does}}
  %0 = graph.pad %x dim 0 low 0 {symbolic_low = "-n"} : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

// expected-note @below {{the operand has n elements along dim 0}}
func.func @a_pad_has_room_for_symbolic_sizes(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{needs at least n + 2 elements, but its result has n + 1}}
  %0 = graph.pad %x dim 0 low 2 : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xf32, #graph.dims<["n + 1"]>>
  return
}

// -----

// expected-note @below {{the operand has type}}
func.func @a_reshape_keeps_symbolic_numbers_of_elements(%x: tensor<?x4xf32, #graph.dims<["n", ""]>>) {
  // expected-error @below {{makes 2*n elements of 4*n}}
  %0 = graph.reshape %x : tensor<?x4xf32, #graph.dims<["n", ""]>> -> tensor<2x?xf32, #graph.dims<["", "n"]>>
  return
}

// -----

// expected-note @below {{the operand has type}}
func.func @a_broadcast_maps_equal_symbols(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{maps operand dim 0 of size n to result dim 1 of size m}}
  %0 = graph.broadcast %x to [1] : tensor<?xf32, #graph.dims<["n"]>> -> tensor<2x?xf32, #graph.dims<["", "m"]>>
  return
}

// -----

// expected-note @+2 {{lhs has type}}
// expected-note @below {{rhs has type}}
func.func @a_product_contracts_equal_symbols(%x: tensor<3x?xf32, #graph.dims<["", "n"]>>, %w: tensor<?x5xf32, #graph.dims<["m", ""]>>) {
  // expected-error @below {{contracting dims 1 and 0 differ in size: n and m}}
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<3x?xf32, #graph.dims<["", "n"]>>, tensor<?x5xf32, #graph.dims<["m", ""]>> -> tensor<3x5xf32>
  return
}

// -----

// expected-note @+2 {{this operand has n of them}}
// expected-note @below {{this operand has 3 of them}}
func.func @a_concatenation_has_all_symbolic_elements(%x: tensor<?xf32, #graph.dims<["n"]>>, %y: tensor<3xf32>) {
  // expected-error @below {{has n + 3 elements along dim 0, but its result n + 4}}
  %0 = graph.concat %x, %y dim 0 : tensor<?xf32, #graph.dims<["n"]>>, tensor<3xf32> -> tensor<?xf32, #graph.dims<["n + 4"]>>
  return
}

// -----

func.func @the_symbols_of_a_gather_are_those_of_its_indices(%t: tensor<64x8xf32>, %i: tensor<?xi64, #graph.dims<["n"]>>) {
  // expected-error @+2 {{inferred type(s) 'tensor<?x8xf32, #graph.dims<["n", ""]>>' are incompatible}}
  // expected-error @below {{failed to infer returned types}}
  %0 = graph.gather %t at %i dim 0 : tensor<64x8xf32>, tensor<?xi64, #graph.dims<["n"]>> -> tensor<?x8xf32, #graph.dims<["m", ""]>>
  return
}

// -----

func.func @a_symbolic_dim_is_no_number(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @+2 {{inferred type(s) 'tensor<?xf32, #graph.dims<["n"]>>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "graph.exp"(%x) : (tensor<?xf32, #graph.dims<["n"]>>) -> tensor<4xf32>
  return
}

// -----

// expected-note @+2 {{the logits come from here}}
// expected-note @below {{the labels come from here}}
func.func @labels_have_the_symbols_of_the_logits(%x: tensor<?x10xf32, #graph.dims<["n", ""]>>, %l: tensor<?xi64, #graph.dims<["m"]>>) {
  // expected-error @below {{needs labels of the shape of the logits without their last dim, found 'tensor<?xi64, #graph.dims<["m"]>>'}}
  %0 = graph.softmax_cross_entropy %x, %l : tensor<?x10xf32, #graph.dims<["n", ""]>>, tensor<?xi64, #graph.dims<["m"]>> -> tensor<f32>
  return
}

// -----

// expected-note @below {{the operand comes from here}}
func.func @a_rotation_needs_a_number_of_pairs(%x: tensor<?xf32, #graph.dims<["2*n"]>>) {
  // expected-error @below {{needs an even last dim, found}}
  %0 = graph.rotary %x, %x, %x : tensor<?xf32, #graph.dims<["2*n"]>>
  return
}

// -----

// expected-note @below {{the key has type}}
func.func @symbolic_heads_are_those_of_the_key(%q: tensor<?x5x8xf32, #graph.dims<["h", "", ""]>>, %k: tensor<2x5x8xf32>) {
  // expected-error @below {{needs heads that are a multiple of the key's, found h and 2}}
  %0, %lse_0 = graph.attention %q, %k, %k {scale = 1.0 : f64}
    : (tensor<?x5x8xf32, #graph.dims<["h", "", ""]>>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<?x5x8xf32, #graph.dims<["h", "", ""]>>, tensor<?x5xf32, #graph.dims<["h", ""]>>)
  return
}

// -----

func.func @sizes_have_a_static_number_of_elements() {
  // expected-error @below {{has 1 values for a result 'tensor<?xi64, #graph.dims<["n"]>>'}}
  %0 = graph.sizes ["n"] : tensor<?xi64, #graph.dims<["n"]>>
  return
}

// -----

func.func @added_tensors_have_equal_symbols(%x: tensor<?xf32, #graph.dims<["n"]>>, %y: tensor<?xf32, #graph.dims<["m"]>>) {
  // expected-error @below {{requires the same encoding for all operands and results}}
  %0 = "graph.add"(%x, %y) : (tensor<?xf32, #graph.dims<["n"]>>, tensor<?xf32, #graph.dims<["m"]>>) -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

func.func @a_number_is_not_added_to_a_symbol(%x: tensor<?xf32, #graph.dims<["n"]>>, %y: tensor<4xf32>) {
  // expected-error @below {{requires the same encoding for all operands and results}}
  %0 = "graph.add"(%x, %y) : (tensor<?xf32, #graph.dims<["n"]>>, tensor<4xf32>) -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

func.func @compared_tensors_have_equal_symbols(%x: tensor<?xf32, #graph.dims<["n"]>>, %y: tensor<?xf32, #graph.dims<["m"]>>) {
  // expected-error @below {{requires all operands to have the same type}}
  %0 = "graph.compare"(%x, %y) <{predicate = #graph<predicate lt>}>
    : (tensor<?xf32, #graph.dims<["n"]>>, tensor<?xf32, #graph.dims<["m"]>>) -> tensor<?xi1, #graph.dims<["n"]>>
  return
}

// -----

func.func @a_cast_keeps_symbols(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{needs operands and results with the same dims, found 'tensor<?xf32, #graph.dims<["n"]>>' and 'tensor<?xi64, #graph.dims<["m"]>>'}}
  %0 = graph.cast %x : tensor<?xf32, #graph.dims<["n"]>> -> tensor<?xi64, #graph.dims<["m"]>>
  return
}

// -----

func.func @a_cast_makes_no_number_of_a_symbol(%x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{needs operands and results with the same dims}}
  %0 = graph.cast %x : tensor<?xf32, #graph.dims<["n"]>> -> tensor<4xi64>
  return
}

// -----

func.func @a_condition_has_the_symbols_of_the_result(%c: tensor<?xi1, #graph.dims<["m"]>>, %x: tensor<?xf32, #graph.dims<["n"]>>) {
  // expected-error @below {{needs operands and results with the same dims}}
  %0 = graph.select %c, %x, %x : tensor<?xi1, #graph.dims<["m"]>>, tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

func.func @a_counter_has_the_symbols_of_the_result(%c: tensor<?xi64, #graph.dims<["m"]>>) {
  // expected-error @below {{needs operands and results with the same dims}}
  %0 = graph.random %c, %c : tensor<?xi64, #graph.dims<["m"]>> -> tensor<?xf32, #graph.dims<["n"]>>
  return
}

// -----

// Equal polynomials that are written differently are one size.
func.func @dims_are_compared_as_polynomials(%x: tensor<?xf32, #graph.dims<["2*n"]>>) {
  %0 = graph.cast %x : tensor<?xf32, #graph.dims<["2*n"]>> -> tensor<?xi64, #graph.dims<["n + n"]>>
  return
}
