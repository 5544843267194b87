// The constraints of the graph dialect, as numbered in dialects/graph/*.td. More are in invalid.mlir.
// RUN: cleave-opt --verify-diagnostics=only-expected --split-input-file %s

// graph.exp (C1)
func.func @a_unary_op_keeps_the_type(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "graph.exp"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// graph.add (C1)
func.func @a_binary_op_has_one_type(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "graph.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// graph.cast (C1)
func.func @a_cast_keeps_the_shape(%x: tensor<4xf32>) {
  // expected-error @below {{needs operands and results with the same dims, found 'tensor<4xf32>' and 'tensor<5xi64>'}}
  %0 = graph.cast %x : tensor<4xf32> -> tensor<5xi64>
  return
}

// -----

// graph.random (C1)
func.func @counter_and_key_have_one_type(%c: tensor<4xi64>, %k: tensor<i64>) {
  // expected-error @below {{failed to verify that all of {counter, key} have same type}}
  %0 = "graph.random"(%c, %k) : (tensor<4xi64>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

// graph.random (C2)
func.func @a_counter_yields_one_number(%c: tensor<4xi64>) {
  // expected-error @below {{needs operands and results with the same dims, found 'tensor<4xi64>' and 'tensor<5xf32>'}}
  %0 = graph.random %c, %c : tensor<4xi64> -> tensor<5xf32>
  return
}

// -----

// graph.compare (C1)
func.func @compared_tensors_have_one_type(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{requires all operands to have the same type}}
  %0 = "graph.compare"(%x, %y) <{predicate = #graph<predicate lt>}> : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

// graph.compare (C2)
func.func @a_comparison_keeps_the_shape(%x: tensor<4xf32>) {
  // expected-error @below {{needs operands and results with the same dims, found 'tensor<4xf32>' and 'tensor<5xi1>'}}
  %0 = "graph.compare"(%x, %x) <{predicate = #graph<predicate lt>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

// graph.select (C1)
func.func @a_choice_has_the_type_of_both_alternatives(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{failed to verify that all of {on_true, on_false, result} have same type}}
  %0 = "graph.select"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// graph.select (C2)
func.func @a_condition_has_the_shape_of_the_result(%c: tensor<5xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{needs operands and results with the same dims, found 'tensor<5xi1>' and 'tensor<4xf32>'}}
  %0 = graph.select %c, %x, %x : tensor<5xi1>, tensor<4xf32>
  return
}

// -----

// graph.dot_general (C2)
func.func @paired_dims_come_in_lists_of_one_length(%x: tensor<4x4xf32>) {
  // expected-error @below {{has 1 batch dims on the left, but 0 on the right}}
  %0 = graph.dot_general %x, %x batch [0] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// graph.dot_general (C3)
func.func @contracted_dims_exist(%x: tensor<4x4xf32>) {
  // expected-error @below {{contracting dims 1 and 2 do not exist}}
  %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [2] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// graph.dot_general (C6)
func.func @a_product_has_the_remaining_dims(%x: tensor<4x8xf32>, %y: tensor<8x5xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<4x5xf32>' are incompatible with return type(s) of operation 'tensor<5x4xf32>'}}
  %0 = graph.dot_general %x, %y batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<5x4xf32>
  return
}

// -----

// graph.dot_general (C6)
func.func @a_product_of_short_floats_is_as_short_or_f32(%x: tensor<4x8xbf16>, %y: tensor<8x5xbf16>) {
  %0 = graph.dot_general %x, %y batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf32>
  // expected-error @below {{inferred type(s) 'tensor<4x5xbf16>' are incompatible with return type(s) of operation 'tensor<4x5xf16>'}}
  %1 = graph.dot_general %x, %y batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf16>
  return
}

// -----

// graph.conv (C5)
func.func @a_convolution_of_f32_is_f32(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{multiplies 'f32' by 'f32' to 'f64', expected one element type, or f32 for the sums of 16-bit floats}}
  %0 = graph.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x3xf64>
  return
}

// -----

// graph.conv (C1)
func.func @a_convolution_has_a_spatial_dim(%x: tensor<1x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{needs input and weight of one rank of at least 3, found 2 and 2}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3xf32>, tensor<4x3xf32> -> tensor<1x4xf32>
  return
}

// -----

// graph.conv (C2)
func.func @a_convolution_has_a_group(%x: tensor<1x3x5xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{needs at least one group, found 0}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 0 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv (C3)
func.func @a_window_has_an_entry_per_spatial_dim(%x: tensor<1x3x5xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{needs one entry per spatial dim (1) in each list, found 2}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv (C5)
func.func @a_window_determines_the_spatial_sizes(%x: tensor<1x3x5xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<1x4x3xf32>' are incompatible with return type(s) of operation 'tensor<1x4x5xf32>'}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x5xf32>
  return
}

// -----

// graph.pool (C1)
func.func @a_pooling_window_has_an_entry_per_spatial_dim(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{needs one entry per spatial dim (1) in each list, found 2}}
  %0 = graph.pool max %x {kernel = array<i64: 2, 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

// graph.grouped_matmul (C1)
func.func @grouped_rows_are_a_matrix(%x: tensor<2x6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{needs matrices in groups, found 'tensor<2x6x4xf32>'}}
  %0 = graph.grouped_matmul %x, %w, %e : tensor<2x6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
  return
}

// -----

func.func @ends_have_one_dim(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>,
                             // expected-note @below {{expected 1 dims}}
                             %e: tensor<3x1xi32>) {
  // expected-error @below {{needs matrices in groups, found 'tensor<3x1xi32>'}}
  %0 = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3x1xi32> -> tensor<6x8xf32>
  return
}

// -----

// graph.grouped_matmul (C2)
// expected-note @below {{the rows are 'tensor<6x4xf32>'}}
func.func @weights_have_the_inputs_of_the_rows(%x: tensor<6x4xf32>, %w: tensor<3x5x8xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{needs weights for its rows, found 'tensor<3x5x8xf32>'}}
  %0 = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x5x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
  return
}

// -----

// graph.grouped_matmul (C3)
// expected-note @below {{the groups are those of 'tensor<3x4x8xf32>'}}
func.func @there_is_an_end_per_group(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<4xi32>) {
  // expected-error @below {{needs an end per group, found 'tensor<4xi32>'}}
  %0 = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<4xi32> -> tensor<6x8xf32>
  return
}

// -----

// graph.grouped_matmul (C4)
func.func @a_block_of_rows_is_one_of_all_rows(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<3xi32>, %r: tensor<i64>) {
  // expected-error @below {{needs `first_row` and `whole_rows` both, or none}}
  %0 = graph.grouped_matmul %x, %w, %e row %r : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
  return
}

// -----

// graph.grouped_matmul (C5)
func.func @a_grouped_product_has_a_row_per_row(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{inferred type(s) 'tensor<6x8xf32>' are incompatible with return type(s) of operation 'tensor<5x8xf32>'}}
  %0 = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<5x8xf32>
  return
}

// -----

// graph.grouped_weight_grad (C1)
func.func @gradients_of_grouped_rows_are_a_matrix(%x: tensor<6x4xf32>,
                                                  // expected-note @below {{expected 2 dims}}
                                                  %dy: tensor<6xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{needs matrices in groups, found 'tensor<6xf32>'}}
  %0 = graph.grouped_weight_grad %x, %dy, %e : tensor<6x4xf32>, tensor<6xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
  return
}

// -----

// graph.grouped_weight_grad (C2)
// expected-note @below {{the rows are 'tensor<6x4xf32>'}}
func.func @there_is_a_gradient_per_row(%x: tensor<6x4xf32>, %dy: tensor<5x8xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{needs a gradient per row, found 'tensor<5x8xf32>'}}
  %0 = graph.grouped_weight_grad %x, %dy, %e : tensor<6x4xf32>, tensor<5x8xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
  return
}

// -----

// graph.grouped_weight_grad (C3)
func.func @there_is_a_gradient_per_end(%x: tensor<6x4xf32>, %dy: tensor<6x8xf32>, %e: tensor<4xi32>) {
  // expected-error @below {{needs an end per group, found 'tensor<4xi32>'}}
  // expected-note @below {{the groups are those of 'tensor<3x4x8xf32>'}}
  %0 = graph.grouped_weight_grad %x, %dy, %e : tensor<6x4xf32>, tensor<6x8xf32>, tensor<4xi32> -> tensor<3x4x8xf32>
  return
}

// -----

// graph.grouped_weight_grad (C5)
func.func @a_weight_gradient_has_inputs_and_outputs(%x: tensor<6x4xf32>, %dy: tensor<6x8xf32>, %e: tensor<3xi32>) {
  // expected-error @below {{needs a result like 'tensor<3x4x8xf32>', found 'tensor<3x4x7xf32>'}}
  %0 = graph.grouped_weight_grad %x, %dy, %e : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<3x4x7xf32>
  return
}

// -----

// graph.pool (C2)
func.func @a_pooling_window_determines_the_spatial_sizes(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<1x3x4xf32>' are incompatible with return type(s) of operation 'tensor<1x3x8xf32>'}}
  %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return
}

// -----

// graph.sort (C1)
func.func @sorted_values_have_the_type_of_the_operand(%x: tensor<4xf32>) {
  // expected-error @below {{failed to verify that all of {operand, values} have same type}}
  %0, %1 = "graph.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> (tensor<4xf64>, tensor<4xi64>)
  return
}

// -----

// graph.sort (C3)
func.func @every_sorted_value_has_an_index(%x: tensor<4xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<4xf32>', 'tensor<4xi64>' are incompatible with return type(s) of operation 'tensor<4xf32>', 'tensor<5xi64>'}}
  %0, %1 = "graph.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<5xi64>)
  return
}

// -----

// graph.gather (C1)
func.func @rows_are_gathered_along_a_dim(%t: tensor<4x3xf32>, %i: tensor<5xi64>) {
  // expected-error @below {{acts on dim 2 of a tensor of rank 2}}
  %0 = graph.gather %t at %i dim 2 : tensor<4x3xf32>, tensor<5xi64> -> tensor<5x3xf32>
  return
}

// -----

// graph.gather (C3)
func.func @the_dims_of_the_indices_replace_the_dim(%t: tensor<4x3xf32>, %i: tensor<5xi64>) {
  // expected-error @below {{inferred type(s) 'tensor<5x3xf32>' are incompatible with return type(s) of operation 'tensor<3x5xf32>'}}
  %0 = graph.gather %t at %i dim 0 : tensor<4x3xf32>, tensor<5xi64> -> tensor<3x5xf32>
  return
}

// -----

// graph.scatter (C1)
func.func @rows_are_scattered_along_a_dim(%u: tensor<5x3xf32>, %i: tensor<5xi64>) {
  // expected-error @below {{acts on dim}}
  %0 = graph.scatter sum %u at %i dim -1 : tensor<5x3xf32>, tensor<5xi64> -> tensor<4x3xf32>
  return
}

// -----

// graph.scatter (C2)
func.func @batches_of_a_scatter_are_leading_dims_of_both(%u: tensor<2x5x3xf32>, %i: tensor<3x5xi64>) {
  // expected-error @below {{needs 1 equal leading dims before dim 1, found indices 'tensor<3x5xi64>'}}
  %0 = graph.scatter sum %u at %i dim 1 {batch = 1 : i64} : tensor<2x5x3xf32>, tensor<3x5xi64> -> tensor<2x4x3xf32>
  return
}

// -----

// graph.reduce (C2)
func.func @reduced_dims_exist(%x: tensor<4x3xf32>) {
  // expected-error @below {{reduces dim 2 of a tensor of rank 2}}
  %0 = graph.reduce sum %x over [2] : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

// graph.reduce (C3)
func.func @a_reduction_keeps_the_remaining_dims(%x: tensor<4x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = graph.reduce sum %x over [1] : tensor<4x3xf32> -> tensor<3xf32>
  return
}

// -----

// graph.attention (C1)
func.func @an_attention_has_heads(%q: tensor<5x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>) {
  // expected-error @below {{needs query, key and value of one rank of at least 3}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64}
    : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

// graph.attention (C2)
func.func @keys_have_the_width_of_the_queries(%q: tensor<3x5x8xf32>, %k: tensor<3x5x4xf32>, %v: tensor<3x5x8xf32>) {
  // expected-error @below {{needs key and value that fit the query, found 'tensor<3x5x4xf32>' and 'tensor<3x5x8xf32>' for 'tensor<3x5x8xf32>'}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x4xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C3)
func.func @groups_divide_heads(%q: tensor<3x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) {
  // expected-error @below {{needs heads that are a multiple of the key's, found 3 and 2}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C4)
func.func @a_bias_has_the_shape_of_the_scores(%q: tensor<3x5x8xf32>, %k: tensor<3x6x8xf32>, %v: tensor<3x6x8xf32>, %b: tensor<3x5x5xf32>) {
  // expected-error @below {{needs a bias and a mask of the scores' shape, found 'tensor<3x5x5xf32>'}}
  %0, %lse_0 = graph.attention %q, %k, %v bias %b {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x5x5xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C6)
func.func @an_attention_drops_at_most_all_weights(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x8xf32>) {
  // expected-error @below {{attribute 'dropout' failed to satisfy constraint: 64-bit float attribute between 0 and 1}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64, dropout = 1.5 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C7)
func.func @an_attention_has_the_depth_of_the_values(%q: tensor<3x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<3x5x6xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<3x5x6xf32>', 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3x5x8xf32>', 'tensor<3x5xf32>'}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x6xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C8)
func.func @sums_of_exponentials_of_short_floats_are_f32(%q: tensor<3x5x8xf16>) {
  // expected-error @below {{inferred type(s) 'tensor<3x5x8xf16>', 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3x5x8xf16>', 'tensor<3x5xf16>'}}
  %0, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64}
    : (tensor<3x5x8xf16>, tensor<3x5x8xf16>, tensor<3x5x8xf16>) -> (tensor<3x5x8xf16>, tensor<3x5xf16>)
  return
}

// -----

// graph.attention (C9)
func.func @offsets_of_a_block_have_dims(%q: tensor<3x5x8xf32>, %o: tensor<i64>) {
  // expected-error @below {{needs an ascending list of dims below 2, one per offset, found 2 dims for 1 offsets}}
  %0, %lse = graph.attention %q, %q, %q at %o {scale = 1.0 : f64, offset_dims = array<i64: 0, 1>, whole = array<i64: 6, 5, 5>}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<i64>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

func.func @keys_have_no_offset(%q: tensor<3x5x8xf32>, %o: tensor<i64>) {
  // expected-error @below {{needs an ascending list of dims below 2}}
  %0, %lse = graph.attention %q, %q, %q at %o {scale = 1.0 : f64, offset_dims = array<i64: 2>, whole = array<i64: 6, 5, 5>}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<i64>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention (C10)
func.func @a_block_has_the_sizes_of_the_whole(%q: tensor<3x5x8xf32>, %o: tensor<i64>) {
  // expected-error @below {{needs 3 sizes of the whole scores, found 0}}
  %0, %lse = graph.attention %q, %q, %q at %o {scale = 1.0 : f64, offset_dims = array<i64: 1>}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<i64>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return
}

// -----

// graph.attention_grad (C5)
func.func @gradients_drop_by_a_seed(%q: tensor<3x5x8xf32>, %l: tensor<3x5xf32>) {
  // expected-error @below {{needs a seed for its dropout}}
  %0, %1, %2 = graph.attention_grad %q, %q, %q, %q, %l, %q {scale = 1.0 : f64, dropout = 0.5 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>)
  return
}

// -----

// graph.attention_grad (C7)
func.func @gradients_read_the_result_of_the_attention(%q: tensor<3x5x8xf32>, %y: tensor<3x5x4xf32>, %l: tensor<3x5xf32>) {
  // expected-error @below {{needs a result of type 'tensor<3x5x8xf32>', found 'tensor<3x5x4xf32>'}}
  %0, %1, %2 = graph.attention_grad %q, %q, %q, %y, %l, %q {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x4xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>)
  return
}

// -----

func.func @the_gradient_of_the_result_has_its_type(%q: tensor<3x5x8xf32>, %dy: tensor<3x5x4xf32>, %l: tensor<3x5xf32>) {
  // expected-error @below {{needs a gradient of the result of type 'tensor<3x5x8xf32>', found 'tensor<3x5x4xf32>'}}
  %0, %1, %2 = graph.attention_grad %q, %q, %q, %q, %l, %dy {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>, tensor<3x5x4xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>)
  return
}

// -----

// graph.attention_grad (C8)
func.func @gradients_read_a_sum_per_row(%q: tensor<3x5x8xf32>, %l: tensor<3x5x1xf32>) {
  // expected-error @below {{needs a log-sum-exp of type 'tensor<3x5xf32>', found 'tensor<3x5x1xf32>'}}
  %0, %1, %2 = graph.attention_grad %q, %q, %q, %q, %l, %q {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x1xf32>, tensor<3x5x8xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>)
  return
}

// -----

// graph.attention_grad (C11)
func.func @a_gradient_has_the_type_of_its_operand(%q: tensor<3x5x8xf32>, %k: tensor<3x6x8xf32>, %l: tensor<3x5xf32>) {
  // expected-error @below {{needs a gradient of the key of type 'tensor<3x6x8xf32>', found 'tensor<3x5x8xf32>'}}
  %0, %1, %2 = graph.attention_grad %q, %k, %k, %q, %l, %q {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x6x8xf32>)
  return
}

// -----

func.func @only_a_bias_has_a_gradient(%q: tensor<3x5x8xf32>, %l: tensor<3x5xf32>) {
  // expected-error @below {{has a gradient of the bias, but no bias}}
  %0, %1, %2, %3 = graph.attention_grad %q, %q, %q, %q, %l, %q {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>)
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>)
  return
}

// -----

// graph.rotary (C1)
func.func @a_rotation_has_one_type(%x: tensor<4x8xf32>, %c: tensor<8xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "graph.rotary"(%x, %c, %c) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// graph.rotary (C2)
func.func @rotated_elements_are_pairs(%x: tensor<4x7xf32>) {
  // expected-error @below {{needs an even last dim, found 'tensor<4x7xf32>'}}
  %0 = graph.rotary %x, %x, %x : tensor<4x7xf32>
  return
}

// -----

// graph.softmax_cross_entropy (C2)
func.func @a_loss_is_a_scalar(%x: tensor<4x10xf32>, %l: tensor<4xi64>) {
  // expected-error @below {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = graph.softmax_cross_entropy %x, %l : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  return
}

// -----

// graph.layer_norm (C2)
func.func @a_layer_norm_scales_the_last_dims(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{needs a scale and a bias of the operand's last dims}}
  %0 = graph.layer_norm %x, %s, %s {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// graph.rms_norm (C2)
func.func @an_rms_norm_scales_the_last_dims(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{needs a scale and a bias of the operand's last dims}}
  %0 = graph.rms_norm %x, %s {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

// graph.batch_norm (C2)
func.func @statistics_of_channels_have_one_type(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %m: tensor<4xf32>) {
  // expected-error @below {{failed to verify that all of {scale, bias, running_mean, running_var, new_mean, new_var} have same type}}
  %0:3 = "graph.batch_norm"(%x, %s, %s, %m, %m) <{epsilon = 1.0e-05 : f64, momentum = 0.1 : f64}>
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// graph.batch_norm (C3)
func.func @a_batch_norm_has_one_scale_per_channel(%x: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{needs one scale per channel (dim 1)}}
  %0:3 = graph.batch_norm %x, %s, %s running %s, %s {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<2x3xf32>, tensor<4xf32>
  return
}

// -----

// graph.transpose (C2)
func.func @a_transpose_permutes_the_sizes(%x: tensor<4x8xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<8x4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %0 = graph.transpose %x by [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// graph.broadcast (C1)
func.func @a_broadcast_maps_every_dim(%x: tensor<8xf32>) {
  // expected-error @below {{names 0 dims for an operand of rank 1}}
  %0 = graph.broadcast %x to [] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

// graph.broadcast (C2)
func.func @a_broadcast_keeps_the_element_type(%x: tensor<8xf32>) {
  // expected-error @below {{moves elements of type 'f32' to a result of 'f64'}}
  %0 = graph.broadcast %x to [1] : tensor<8xf32> -> tensor<4x8xf64>
  return
}

// -----

// graph.broadcast (C3)
func.func @a_broadcast_maps_to_a_dim(%x: tensor<8xf32>) {
  // expected-error @below {{maps operand dim 0 to result dim 2, which is taken or does not exist}}
  %0 = graph.broadcast %x to [2] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

// graph.slice (C1)
func.func @a_symbolic_start_is_a_polynomial(%x: tensor<8xf32>) {
  // expected-error @below {{needs a polynomial of symbols, found 'batch+'}}
  %0 = graph.slice %x dim 0 from 0 step 1 {symbolic_start = "batch+"} : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// graph.slice (C2)
func.func @a_slice_goes_forward(%x: tensor<8xf32>) {
  // expected-error @below {{needs a positive stride and a start of at least 0, found 0 and 0}}
  %0 = graph.slice %x dim 0 from 0 step 0 : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// graph.slice (C3)
func.func @a_slice_keeps_the_other_dims(%x: tensor<4x8xf32>) {
  // expected-error @below {{changes dim 0 from 4 to 3, but acts on dim 1}}
  %0 = graph.slice %x dim 1 from 0 step 1 : tensor<4x8xf32> -> tensor<3x8xf32>
  return
}

// -----

// graph.pad (C1)
func.func @a_symbolic_low_is_a_polynomial(%x: tensor<4xf32>) {
  // expected-error @below {{needs a polynomial of symbols, found 'batch+'}}
  %0 = graph.pad %x dim 0 low 0 {symbolic_low = "batch+"} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// graph.pad (C2)
func.func @a_pad_removes_nothing(%x: tensor<4xf32>) {
  // expected-error @below {{cannot remove elements; slice does}}
  %0 = graph.pad %x dim 0 low -1 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// graph.concat (C1)
func.func @concatenated_tensors_agree_in_the_other_dims(%x: tensor<4x8xf32>, %y: tensor<2x7xf32>) {
  // expected-error @below {{changes dim 1 from 7 to 8, but acts on dim 0}}
  %0 = graph.concat %x, %y dim 0 : tensor<4x8xf32>, tensor<2x7xf32> -> tensor<6x8xf32>
  return
}

// -----

// graph.concat (C2)
func.func @a_concatenation_has_all_elements(%x: tensor<4x8xf32>) {
  // expected-error @below {{has 8 elements along dim 0, but its result 6}}
  %0 = graph.concat %x, %x dim 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<6x8xf32>
  return
}

// -----

// graph.constant (C1)
func.func @a_constant_has_the_type_of_its_value() {
  // expected-error @below {{has elements of type 'tensor<4xf32>', but the result type 'tensor<5xf32>'}}
  %0 = "graph.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<5xf32>
  return
}

// -----

// graph.sizes (C1)
func.func @every_size_has_an_element() {
  // expected-error @below {{has 1 values for a result 'tensor<2xi64>'}}
  %0 = graph.sizes ["batch"] : tensor<2xi64>
  return
}

// -----

// graph.sizes (C2)
func.func @a_divisor_is_a_polynomial() {
  // expected-error @below {{needs a polynomial of symbols, found 'batch+'}}
  %0 = graph.sizes ["batch"] {divisor = "batch+"} : tensor<1xi64>
  return
}

// -----

// graph.sizes (C3)
func.func @a_size_is_a_polynomial() {
  // expected-error @below {{needs polynomials of symbols, found 'batch+'}}
  %0 = graph.sizes ["batch+"] : tensor<1xi64>
  return
}

// -----

// graph.iota (C1)
func.func @indices_are_those_of_a_dim() {
  // expected-error @below {{counts along dim 1 of a tensor of rank 1}}
  %0 = graph.iota dim 1 : tensor<4xi64>
  return
}

// -----

// graph.fusion (C1)
func.func @arguments_of_a_kernel_group_are_its_operands(%x: tensor<4xf32>) {
  // expected-error @below {{has operands and block arguments of different types}}
  %0 = "graph.fusion"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    "graph.yield"(%a) : (tensor<5xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// graph.fusion (C2)
func.func @a_kernel_group_yields_its_results(%x: tensor<4xf32>) {
  // expected-error @below {{must yield exactly its results}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<5xf32>) {
    // expected-note @below {{the group ends here}}
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

// graph.fusion (C3)
func.func @a_kernel_group_holds_no_accumulation(%x: tensor<4xf32>) {
  // expected-note @below {{the group begins here}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{cannot be part of a kernel group}}
    %1 = graph.accumulate %a count 2 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// graph.fusion (C4)
func.func @a_kernel_group_uses_its_arguments_only(%x: tensor<4xf32>) {
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{using value defined outside the region}}
    %1 = graph.exp %x : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// graph.yield (C1)
func.func @only_kernel_groups_yield(%x: tensor<4xf32>) {
  // expected-error @below {{expects parent op 'graph.fusion'}}
  graph.yield %x : tensor<4xf32>
}

// -----

// #graph.dims (D1)
// expected-error @below {{needs a polynomial of symbols for every symbolic dim, found "batch+"}}
func.func @a_symbolic_dim_is_a_polynomial(%x: tensor<?xf32, #graph.dims<["batch+"]>>) {
  return
}

// -----

// graph.dropout (C1)
func.func @a_dropout_keeps_the_type(%x: tensor<4xf32>) {
  // expected-error @below {{failed to verify that all of {operand, result} have same type}}
  %0 = "graph.dropout"(%x) <{rate = 0.5 : f64}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// graph.conv (C6)
func.func @a_kernel_has_a_static_size(%a: tensor<1x3x5xf32>, %b: tensor<4x3x?xf32, #graph.dims<["", "", "k"]>>) {
  // expected-error @below {{has a kernel of symbolic size, expected numbers}}
  %0 = graph.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x?xf32, #graph.dims<["", "", "k"]>> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv (C7)
func.func @a_convolution_moves_forward(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs strides of at least 1, found 0}}
  %0 = graph.conv %a, %b {strides = array<i64: 0>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv (C7)
func.func @kernel_elements_differ_in_position(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs dilations of at least 1, found 0}}
  %0 = graph.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 0>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf32> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv (C8)
func.func @groups_divide_the_output_channels(%a: tensor<1x4x5xf32>, %b: tensor<3x2x3xf32>) {
  // expected-error @below {{has 3 output channels, expected a multiple of 2, the number of groups}}
  %0 = graph.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 2 : i64}
    : tensor<1x4x5xf32>, tensor<3x2x3xf32> -> tensor<1x3x3xf32>
  return
}

// -----

// graph.conv (C9)
func.func @a_convolution_multiplies_one_type(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf64>) {
  // expected-error @below {{multiplies 'f32' by 'f64' to 'f32', expected one element type, or f32 for the sums of 16-bit floats}}
  %0 = graph.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x3x3xf64> -> tensor<1x4x3xf32>
  return
}

// -----

// graph.conv_input_grad (C1)
func.func @an_input_gradient_has_a_spatial_dim(%a: tensor<1x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{needs input and weight of one rank of at least 3, found 2 and 2}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4xf32>, tensor<4x3xf32> -> tensor<1x3xf32>
  return
}

// -----

// graph.conv_input_grad (C2)
func.func @an_input_gradient_has_a_group(%a: tensor<1x4x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs at least one group, found -1}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = -1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x3xf32> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_input_grad (C3)
func.func @an_input_gradient_has_an_entry_per_spatial_dim(%a: tensor<1x4x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs one entry per spatial dim (1) in each list, found 2}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x3xf32> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_input_grad (C4)
func.func @an_input_gradient_moves_forward(%a: tensor<1x4x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs strides of at least 1, found 0}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 0>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x3xf32> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_input_grad (C5)
func.func @an_input_gradient_has_the_channels_of_the_convolution(%a: tensor<1x4x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{has 2 input channels, but its weight expects 3}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x3xf32> -> tensor<1x2x5xf32>
  return
}

// -----

// graph.conv_input_grad (C6)
func.func @an_input_gradient_has_a_kernel_of_static_size(%a: tensor<1x4x3xf32>, %b: tensor<4x3x?xf32, #graph.dims<["", "", "k"]>>) {
  // expected-error @below {{has a kernel of symbolic size, expected numbers}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x?xf32, #graph.dims<["", "", "k"]>> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_input_grad (C7)
func.func @an_input_gradient_has_groups_that_divide_the_output_channels(%a: tensor<1x3x3xf32>, %b: tensor<3x2x3xf32>) {
  // expected-error @below {{has 3 output channels, expected a multiple of 2, the number of groups}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 2 : i64}
    : tensor<1x3x3xf32>, tensor<3x2x3xf32> -> tensor<1x4x5xf32>
  return
}

// -----

// graph.conv_input_grad (C8)
func.func @an_input_gradient_has_one_element_type(%a: tensor<1x4x3xf32>, %b: tensor<4x3x3xf64>) {
  // expected-error @below {{multiplies 'f32' by 'f64' to 'f32', expected one element type, or f32 for the sums of 16-bit floats}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<4x3x3xf64> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_input_grad (C9)
func.func @an_input_gradient_is_taken_at_the_result(%a: tensor<1x4x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @below {{needs a gradient of the shape of 'tensor<1x4x3xf32>', the result of its graph.conv, found 'tensor<1x4x5xf32>'}}
  %0 = graph.conv_input_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x5xf32>, tensor<4x3x3xf32> -> tensor<1x3x5xf32>
  return
}

// -----

// graph.conv_weight_grad (C1)
func.func @a_weight_gradient_has_a_spatial_dim(%a: tensor<1x4xf32>, %b: tensor<1x3xf32>) {
  // expected-error @below {{needs input and weight of one rank of at least 3, found 2 and 2}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4xf32>, tensor<1x3xf32> -> tensor<4x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C2)
func.func @a_weight_gradient_has_a_group(%a: tensor<1x4x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{needs at least one group, found -1}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = -1 : i64}
    : tensor<1x4x3xf32>, tensor<1x3x5xf32> -> tensor<4x3x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C3)
func.func @a_weight_gradient_has_an_entry_per_spatial_dim(%a: tensor<1x4x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{needs one entry per spatial dim (1) in each list, found 2}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<1x3x5xf32> -> tensor<4x3x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C4)
func.func @a_weight_gradient_moves_forward(%a: tensor<1x4x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{needs strides of at least 1, found 0}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 0>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<1x3x5xf32> -> tensor<4x3x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C5)
func.func @a_weight_gradient_has_the_channels_of_the_convolution(%a: tensor<1x4x3xf32>, %b: tensor<1x2x5xf32>) {
  // expected-error @below {{has 2 input channels, but its weight expects 3}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<1x2x5xf32> -> tensor<4x3x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C6)
func.func @a_weight_gradient_has_a_kernel_of_static_size(%a: tensor<1x4x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{has a kernel of symbolic size, expected numbers}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<1x3x5xf32> -> tensor<4x3x?xf32, #graph.dims<["", "", "k"]>>
  return
}

// -----

// graph.conv_weight_grad (C7)
func.func @a_weight_gradient_has_groups_that_divide_the_output_channels(%a: tensor<1x3x3xf32>, %b: tensor<1x4x5xf32>) {
  // expected-error @below {{has 3 output channels, expected a multiple of 2, the number of groups}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 2 : i64}
    : tensor<1x3x3xf32>, tensor<1x4x5xf32> -> tensor<3x2x3xf32>
  return
}

// -----

// graph.conv_weight_grad (C8)
func.func @a_weight_gradient_has_one_element_type(%a: tensor<1x4x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{multiplies 'f32' by 'f32' to 'f64', expected one element type, or f32 for the sums of 16-bit floats}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x3xf32>, tensor<1x3x5xf32> -> tensor<4x3x3xf64>
  return
}

// -----

// graph.conv_weight_grad (C9)
func.func @a_weight_gradient_is_taken_at_the_result(%a: tensor<1x4x5xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error @below {{needs a gradient of the shape of 'tensor<1x4x3xf32>', the result of its graph.conv, found 'tensor<1x4x5xf32>'}}
  %0 = graph.conv_weight_grad %a, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x4x5xf32>, tensor<1x3x5xf32> -> tensor<4x3x3xf32>
  return
}

// -----

// graph.pool (C3)
func.func @pooling_has_a_spatial_dim(%x: tensor<3x8xf32>) {
  // expected-error @below {{needs an input of rank 3 or more, found rank 2}}
  %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

// graph.pool (C4)
func.func @pooling_moves_forward(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{needs strides of at least 1, found 0}}
  %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 0>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

// graph.pool_grad (C1)
func.func @a_pooling_gradient_has_a_spatial_dim(%g: tensor<3x4xf32>, %x: tensor<3x8xf32>) {
  // expected-error @below {{needs an input of rank 3 or more, found rank 2}}
  %0 = graph.pool_grad max %g, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<3x4xf32>, tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

// graph.pool_grad (C2)
func.func @a_pooling_gradient_has_an_entry_per_spatial_dim(%g: tensor<1x3x4xf32>, %x: tensor<1x3x8xf32>) {
  // expected-error @below {{needs one entry per spatial dim (1) in each list, found 2}}
  %0 = graph.pool_grad max %g, %x {kernel = array<i64: 2, 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x4xf32>, tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return
}

// -----

// graph.pool_grad (C3)
func.func @a_pooling_gradient_moves_forward(%g: tensor<1x3x4xf32>, %x: tensor<1x3x8xf32>) {
  // expected-error @below {{needs strides of at least 1, found 0}}
  %0 = graph.pool_grad max %g, %x {kernel = array<i64: 2>, strides = array<i64: 0>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x4xf32>, tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return
}

// -----

// graph.pool_grad (C4)
func.func @a_pooling_gradient_is_taken_at_the_result(%g: tensor<1x3x5xf32>, %x: tensor<1x3x8xf32>) {
  // expected-error @below {{needs a gradient of type 'tensor<1x3x4xf32>', the type of the result of its graph.pool, found 'tensor<1x3x5xf32>'}}
  %0 = graph.pool_grad max %g, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x5xf32>, tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return
}

// -----

// graph.pool_grad (C5)
func.func @a_pooling_gradient_has_the_type_of_the_input(%g: tensor<1x3x4xf32>, %x: tensor<1x3x8xf32>) {
  // expected-error @below {{has a result of type 'tensor<1x3x9xf32>', expected the type of its input, 'tensor<1x3x8xf32>'}}
  %0 = graph.pool_grad max %g, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x4xf32>, tensor<1x3x8xf32> -> tensor<1x3x9xf32>
  return
}

// -----

// graph.softmax (C2)
func.func @a_softmax_goes_along_a_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{acts on dim 2 of a tensor of rank 2}}
  %0 = graph.softmax %x dim 2 : tensor<4x8xf32>
  return
}

// -----

// graph.log_softmax (C2)
func.func @a_log_softmax_goes_along_a_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{acts on dim -1 of a tensor of rank 2}}
  %0 = graph.log_softmax %x dim -1 : tensor<4x8xf32>
  return
}

// -----

// graph.reverse (C2)
func.func @a_reversal_goes_along_a_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{acts on dim 2 of a tensor of rank 2}}
  %0 = graph.reverse %x dim 2 : tensor<4x8xf32>
  return
}

// -----

// graph.concat (C3)
func.func @a_concatenation_has_operands() {
  // expected-error @below {{has no operands, expected at least one}}
  %0 = "graph.concat"() <{dim = 0 : i64}> : () -> tensor<4x8xf32>
  return
}

// -----

// graph.layer_norm (C3)
func.func @a_layer_norm_has_one_element_type(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @below {{has a parameter of 'f64' elements, expected 'f32', the element type of the operand}}
  %0 = graph.layer_norm %x, %s, %b {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>
  return
}

// -----

// graph.rms_norm (C3)
func.func @an_rms_norm_has_one_element_type(%x: tensor<4x8xf32>, %s: tensor<8xf64>) {
  // expected-error @below {{has a parameter of 'f64' elements, expected 'f32', the element type of the operand}}
  %0 = graph.rms_norm %x, %s {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

// graph.batch_norm (C4)
func.func @a_batch_norm_has_one_element_type(%x: tensor<2x3xf32>, %s: tensor<3xf64>) {
  // expected-error @below {{has a parameter of 'f64' elements, expected 'f32', the element type of the operand}}
  %0:3 = graph.batch_norm %x, %s, %s running %s, %s {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<2x3xf32>, tensor<3xf64>
  return
}

// -----

// graph.accumulate (C2)
func.func @an_accumulation_has_a_micro_batch(%x: tensor<4x8xf32>) {
  // expected-error @below {{counts 0 micro-batches, expected at least 1}}
  %0 = graph.accumulate %x count 0 : tensor<4x8xf32>
  return
}

// -----

func.func @a_tensor_has_a_rank(%x: tensor<*xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 values, but got 'tensor<*xf32>'}}
  %0 = graph.exp %x : tensor<*xf32>
  return
}

// -----

func.func @a_dim_has_a_size(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 values, but got 'tensor<?xf32>'}}
  %0 = graph.exp %x : tensor<?xf32>
  return
}

// -----

func.func @a_parser_that_infers_a_type_needs_a_rank(%x: tensor<*xf32>) {
  // expected-error @below {{found an operand of type 'tensor<*xf32>', expected a ranked tensor with static or symbolic dims}}
  %0:2 = graph.sort %x dim 0 : tensor<*xf32>
  return
}

// -----

func.func @a_parser_that_infers_a_type_needs_sizes(%x: tensor<?xf32>) {
  // expected-error @below {{found an operand of type 'tensor<?xf32>', expected a ranked tensor with static or symbolic dims}}
  %0 = graph.compare lt %x, %x : tensor<?xf32>
  return
}

// -----

func.func @a_power_is_a_float(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 values, but got 'tensor<4xi32>'}}
  %0 = graph.pow %x, %x : tensor<4xi32>
  return
}

// -----

// #graph.dims (D2)
// expected-error @below {{has 1 entries in #graph.dims<["batch"]> for a tensor of rank 2, expected one per dim}}
func.func @every_dim_has_an_entry(%x: tensor<?x4xf32, #graph.dims<["batch"]>>) {
  return
}

// -----

// #graph.dims (D2)
// expected-error @below {{has an empty entry in #graph.dims<["", "4"]> for dim 0, expected a polynomial of symbols}}
func.func @a_symbolic_dim_has_a_polynomial(%x: tensor<?x?xf32, #graph.dims<["", "4"]>>) {
  return
}

// -----

func.func @integers_of_four_bits_are_no_elements(%x: tensor<4xi4>) {
  // expected-error @below {{operand #0 must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 or i1, i8 to i64 or ui8 to ui64 values, but got 'tensor<4xi4>'}}
  %0 = graph.add %x, %x : tensor<4xi4>
  return
}

// -----

func.func @integers_of_128_bits_are_no_elements() {
  // expected-error @below {{must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 or i1, i8 to i64 or ui8 to ui64 values, but got 'tensor<4xi128>'}}
  %0 = graph.iota dim 0 : tensor<4xi128>
  return
}

// -----

func.func @floats_of_eight_bits_are_no_elements(%x: tensor<4xf8E4M3FN>) {
  // expected-error @below {{operand #0 must be ranked tensor with static or symbolic dims of f64, f32, f16 or bf16 values, but got 'tensor<4xf8E4M3FN>'}}
  %0 = graph.exp %x : tensor<4xf8E4M3FN>
  return
}

// -----

// graph.transfer (C1)
func.func @a_transfer_keeps_the_type(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "graph.transfer"(%x) <{from = 0 : i64, to = 1 : i64}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// graph.transfer (C2)
func.func @a_transfer_goes_to_another_stage(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) goes from chunk 1 to chunk 1, expected two different chunks}}
  %0 = graph.transfer %x from 1 to 1 : tensor<4xf32>
  return
}
