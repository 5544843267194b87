// Errors of the verifiers of graph ops; constraints as numbered in dialects/graph/*.td. See also
// constraints.mlir.
// RUN: cleave-opt --verify-diagnostics --split-input-file %s

// graph.reshape (C2)
// expected-note @below {{the operand comes from here}}
func.func @a_reshape_keeps_the_element_type(%x: tensor<4xf32>) -> tensor<2x2xf64> {
  // expected-error @below {{moves elements of type 'f32' to a result of 'f64'}}
  %0 = graph.reshape %x : tensor<4xf32> -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}

// -----

// graph.reshape (C1)
// expected-note @below {{the operand has type 'tensor<4xf32>'}}
func.func @a_reshape_keeps_the_elements(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{makes 3 elements of 4}}
  %0 = graph.reshape %x : tensor<4xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// graph.slice (C4)
// expected-note @below {{the operand has type 'tensor<4xf32>'}}
func.func @a_slice_stays_inside(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{reads element 4 of a dim of size 4}}
  %0 = graph.slice %x dim 0 from 1 step 3 : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// graph.pad (C4)
// expected-note @below {{the operand has 3 elements along dim 0}}
func.func @a_pad_has_room_for_its_operand(%x: tensor<3xf32>) -> tensor<5xf32> {
  // expected-error @below {{needs at least 6 elements, but its result has 5}}
  %0 = graph.pad %x dim 0 low 1 {interior = 1 : i64} : tensor<3xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// graph.transpose (C1)
// expected-note @below {{the operand has type 'tensor<2x3xf32>'}}
func.func @a_transpose_names_every_dim_once(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{needs a permutation of its operand's 2 dims}}
  %0 = graph.transpose %x by [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// graph.broadcast (C4)
// expected-note @below {{the operand has type 'tensor<3xf32>'}}
func.func @a_broadcast_maps_equal_sizes(%x: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{maps operand dim 0 of size 3 to result dim 1 of size 4}}
  %0 = graph.broadcast %x to [1] : tensor<3xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// graph.dot_general (C4)
// expected-note @+2 {{lhs has type 'tensor<2x3xf32>'}}
// expected-note @below {{rhs has type 'tensor<4x5xf32>'}}
func.func @a_product_contracts_equal_sizes(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // expected-error @below {{contracting dims 1 and 0 differ in size: 3 and 4}}
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<2x3xf32>, tensor<4x5xf32> -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// graph.dot_general (C1)
// expected-note @+2 {{lhs has type 'tensor<2x3xf32>'}}
// expected-note @below {{rhs has type 'tensor<3x5xf64>'}}
func.func @a_product_multiplies_one_type(%x: tensor<2x3xf32>, %w: tensor<3x5xf64>) -> tensor<2x5xf32> {
  // expected-error @below {{multiplies elements of type 'f32' with 'f64'}}
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<2x3xf32>, tensor<3x5xf64> -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// graph.dot_general (C5)
func.func @a_product_names_a_dim_once(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  // expected-error @below {{names a dim of an operand twice}}
  %0 = graph.dot_general %x, %x batch [0] x [0] contract [0] x [1] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// graph.reduce (C1)
func.func @a_dim_is_reduced_once(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  // expected-error @below {{reduces a dim twice}}
  %0 = graph.reduce sum %x over [0, 0] : tensor<3x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// graph.scatter (C3)
// expected-note @+2 {{expected 'tensor<2x3xf32>'}}
// expected-note @below {{the indices have type 'tensor<2xi64>'}}
func.func @scattered_rows_fit(%u: tensor<2x5xf32>, %i: tensor<2xi64>) -> tensor<4x3xf32> {
  // expected-error @below {{needs updates like its result with the indices' dims in place of dim 0, found 'tensor<2x5xf32>'}}
  %0 = graph.scatter sum %u at %i dim 0 : tensor<2x5xf32>, tensor<2xi64> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// graph.softmax_cross_entropy (C1)
// expected-note @+2 {{the logits come from here}}
// expected-note @below {{the labels come from here}}
func.func @labels_have_the_shape_of_the_logits_without_classes(%x: tensor<2x5xf32>, %l: tensor<3xi64>) -> tensor<f32> {
  // expected-error @below {{needs labels of the shape of the logits without their last dim}}
  %0 = graph.softmax_cross_entropy %x, %l : tensor<2x5xf32>, tensor<3xi64> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// graph.conv (C4)
// expected-note @+2 {{the input has type 'tensor<1x3x5xf32>'}}
// expected-note @below {{the weight has type 'tensor<4x2x3xf32>' and 1 groups}}
func.func @a_convolution_has_the_channels_of_its_weight(%x: tensor<1x3x5xf32>, %w: tensor<4x2x3xf32>) -> tensor<1x4x3xf32> {
  // expected-error @below {{has 3 input channels, but its weight expects 2}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64}
    : tensor<1x3x5xf32>, tensor<4x2x3xf32> -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// -----

// graph.gather (C2)
// expected-note @+2 {{the table has type 'tensor<2x4x3xf32>'}}
// expected-note @below {{the indices come from here}}
func.func @batches_are_leading_dims_of_both(%t: tensor<2x4x3xf32>, %i: tensor<3x5xi64>) -> tensor<2x5x3xf32> {
  // expected-error @below {{needs 1 equal leading dims before dim 1, found indices 'tensor<3x5xi64>'}}
  %0 = graph.gather %t at %i dim 1 {batch = 1 : i64} : tensor<2x4x3xf32>, tensor<3x5xi64> -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// -----

// graph.scan (C2)
// expected-note @below {{the operand has type 'tensor<2x4xf32>'}}
func.func @scans_go_along_a_dim(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{acts on dim 2 of a tensor of rank 2}}
  %0 = graph.scan sum %x dim 2 : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// graph.sort (C2)
// expected-note @below {{the operand has type 'tensor<2x4xf32>'}}
func.func @sorting_goes_along_a_dim(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{acts on dim 3 of a tensor of rank 2}}
  %0, %1 = graph.sort %x dim 3 : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// graph.attention (C5)
// expected-note @below {{the seed comes from here}}
func.func @an_attention_with_a_seed_drops(%q: tensor<3x5x8xf32>, %s: tensor<i64>) -> tensor<3x5x8xf32> {
  // expected-error @below {{needs a rate of dropout for its seed}}
  %0, %lse_0 = graph.attention %q, %q, %q seed %s {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<i64>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %0 : tensor<3x5x8xf32>
}

// -----

// graph.dropout (C2)
func.func @a_part_that_is_dropped_is_not_more_than_all(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{attribute 'rate' failed to satisfy constraint: 64-bit float attribute between 0 and 1}}
  %0 = graph.dropout %x {rate = 1.5 : f64} : tensor<3xf32>
  return %0 : tensor<3xf32>
}
