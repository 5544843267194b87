// Errors of the verifiers of graph ops beyond one per constraint (constraints.mlir, invalid.mlir):
// the other branches of each rule, and the notes.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// -- slice, pad, concat: a dim that all tensors have, with the same other dims --

func.func @a_slice_acts_on_a_dim(%x: tensor<4x2xf32>) {
  // expected-error @below {{acts on dim -1 of a tensor of rank 2}}
  %0 = graph.slice %x dim -1 from 0 step 1 : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @a_slice_keeps_the_rank(%x: tensor<4x2xf32>) {
  // expected-error @below {{has an operand of rank 2 and a result of rank 1}}
  %0 = graph.slice %x dim 0 from 0 step 1 : tensor<4x2xf32> -> tensor<4xf32>
  return
}

// -----

// expected-note @below {{the operand comes from here}}
func.func @a_slice_keeps_the_element_type(%x: tensor<4xf32>) {
  // expected-error @below {{moves elements of type 'f32' to a result of 'f16'}}
  %0 = graph.slice %x dim 0 from 0 step 1 : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

func.func @a_slice_begins_inside(%x: tensor<4xf32>) {
  // expected-error @below {{needs a positive stride and a start of at least 0, found 1 and -1}}
  %0 = graph.slice %x dim 0 from -1 step 1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-note @below {{the operand has type 'tensor<4x2xf32>'}}
func.func @a_pad_keeps_the_other_dims(%x: tensor<4x2xf32>) {
  // expected-error @below {{changes dim 1 from 2 to 3, but acts on dim 0}}
  %0 = graph.pad %x dim 0 low 1 : tensor<4x2xf32> -> tensor<5x3xf32>
  return
}

// -----

func.func @a_pad_spreads_elements(%x: tensor<4xf32>) {
  // expected-error @below {{cannot remove elements; slice does}}
  %0 = graph.pad %x dim 0 low 0 {interior = -1 : i64} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @a_concatenation_acts_on_a_dim(%x: tensor<4x2xf32>) {
  // expected-error @below {{acts on dim 5 of a tensor of rank 2}}
  %0 = graph.concat %x dim 5 : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

// expected-note @below {{the operand comes from here}}
func.func @concatenated_tensors_have_one_element_type(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{moves elements of type 'f64' to a result of 'f32'}}
  %0 = graph.concat %x, %y dim 0 : tensor<4xf32>, tensor<4xf64> -> tensor<8xf32>
  return
}

// -- transpose, broadcast --

// -----

// expected-note @below {{the operand has type 'tensor<4x2xf32>'}}
func.func @a_permutation_has_all_dims(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs a permutation of its operand's 2 dims}}
  %0 = graph.transpose %x by [1] : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

// expected-note @below {{the operand has type 'tensor<4x2xf32>'}}
func.func @a_permutation_has_dims_that_exist(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs a permutation of its operand's 2 dims}}
  %0 = graph.transpose %x by [1, 2] : tensor<4x2xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @two_dims_are_not_broadcast_to_one(%x: tensor<4x4xf32>) {
  // expected-error @below {{maps operand dim 1 to result dim 0, which is taken or does not exist}}
  %0 = graph.broadcast %x to [0, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @a_broadcast_maps_to_no_negative_dim(%x: tensor<4xf32>) {
  // expected-error @below {{maps operand dim 0 to result dim -1, which is taken or does not exist}}
  %0 = graph.broadcast %x to [-1] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -- dot_general: the batch is checked like the contracted dims --

// -----

// expected-note @+2 {{lhs has type 'tensor<2x3xf32>'}}
// expected-note @below {{rhs has type 'tensor<4x3xf32>'}}
func.func @batch_dims_have_equal_sizes(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{batch dims 0 and 0 differ in size: 2 and 4}}
  %0 = graph.dot_general %x, %w batch [0] x [0] contract [1] x [1] : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @contracted_dims_come_in_pairs(%x: tensor<2x3xf32>) {
  // expected-error @below {{has 1 contracting dims on the left, but 2 on the right}}
  %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0, 1] : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @a_dim_of_the_right_operand_is_named_once(%x: tensor<3x3xf32>) {
  // expected-error @below {{names a dim of an operand twice}}
  %0 = graph.dot_general %x, %x batch [0] x [0] contract [1] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3xf32>
  return
}

// -- gather, scatter --

// -----

// expected-note @+2 {{the table has type 'tensor<4x2xf32>'}}
// expected-note @below {{the indices come from here}}
func.func @a_batch_lies_before_the_dim(%t: tensor<4x2xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{needs 1 equal leading dims before dim 0, found indices 'tensor<4xi64>'}}
  %0 = graph.gather %t at %i dim 0 {batch = 1 : i64} : tensor<4x2xf32>, tensor<4xi64> -> tensor<2xf32>
  return
}

// -----

func.func @indices_are_integers(%t: tensor<4x2xf32>, %i: tensor<4xf32>) {
  // expected-error @below {{operand #1 must be ranked tensor with static or symbolic dims of i1, i8 to i64 or ui8 to ui64 values}}
  %0 = graph.gather %t at %i dim 0 : tensor<4x2xf32>, tensor<4xf32> -> tensor<4x2xf32>
  return
}

// -----

// expected-note @+2 {{expected 'tensor<2xf64>'}}
// expected-note @below {{the indices have type 'tensor<2xi64>'}}
func.func @updates_have_the_element_type_of_the_result(%u: tensor<2xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{needs updates like its result with the indices' dims in place of dim 0, found 'tensor<2xf32>'}}
  %0 = graph.scatter sum %u at %i dim 0 : tensor<2xf32>, tensor<2xi64> -> tensor<4xf64>
  return
}

// -- reduce, scan --

// -----

// expected-note @below {{the operand has type 'tensor<4x2xf32>'}}
func.func @no_negative_dim_is_reduced(%x: tensor<4x2xf32>) {
  // expected-error @below {{reduces dim -1 of a tensor of rank 2}}
  %0 = graph.reduce sum %x over [-1] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

// expected-note @below {{the operand has type 'tensor<f32>'}}
func.func @a_scalar_is_not_scanned(%x: tensor<f32>) {
  // expected-error @below {{acts on dim 0 of a tensor of rank 0}}
  %0 = graph.scan sum %x dim 0 : tensor<f32>
  return
}

// -----

func.func @a_kind_of_reduction_is_known(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected ::cleave::graph::Reduction to be one of: sum, max, min, prod}}
  // expected-error @below {{failed to parse Graph_ReduceKindAttr}}
  %0 = graph.reduce mean %x over [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -- attention, normalisation: each tensor has a note --

// -----

// expected-note @+4 {{the query has type 'tensor<4x5x8xf32>'}}
// expected-note @+3 {{the key has type 'tensor<5x8xf32>'}}
// expected-note @+2 {{the value has type 'tensor<4x5x8xf32>'}}
func.func @query_key_and_value_have_one_rank(
    %q: tensor<4x5x8xf32>, %k: tensor<5x8xf32>, %v: tensor<4x5x8xf32>) {
  // expected-error @below {{needs query, key and value of one rank of at least 3}}
  %0, %lse_0 = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<4x5x8xf32>, tensor<5x8xf32>, tensor<4x5x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
  return
}

// -----

// expected-note @below {{expected 'tensor<4x5x5xi1>'}}
func.func @a_mask_has_the_shape_of_the_scores(%q: tensor<4x5x8xf32>, %m: tensor<5x5xi1>) {
  // expected-error @below {{needs a bias and a mask of the scores' shape, found 'tensor<5x5xi1>'}}
  %0, %lse_0 = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<5x5xi1>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @an_attention_drops_no_negative_part(%q: tensor<4x5x8xf32>) {
  // expected-error @below {{attribute 'dropout' failed to satisfy constraint: 64-bit float attribute between 0 and 1}}
  %0, %lse_0 = graph.attention %q, %q, %q {scale = 1.0 : f64, dropout = -0.5 : f64} : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
  return
}

// -----

// expected-note @+3 {{the operand has type 'tensor<4x8xf32>'}}
// expected-note @+2 {{the scale has type 'tensor<8xf32>'}}
// expected-note @below {{the bias has type 'tensor<4xf32>'}}
func.func @a_bias_has_the_shape_of_the_scale(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{needs a scale and a bias of the operand's last dims}}
  %0 = graph.layer_norm %x, %s, %b {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>
  return
}

// -----

// expected-note @+2 {{the operand has type 'tensor<8xf32>'}}
// expected-note @below {{the scale has type 'tensor<8xf32>'}}
func.func @a_batch_norm_has_a_dim_of_channels(%x: tensor<8xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{needs one scale per channel (dim 1)}}
  %0:3 = graph.batch_norm %x, %s, %s running %s, %s {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<8xf32>, tensor<8xf32>
  return
}

// -- kernel groups --

// -----

// expected-note @below {{this operand has type 'tensor<4xf32>', its argument 'tensor<5xf32>'}}
func.func @an_argument_has_the_type_of_its_operand(%x: tensor<4xf32>) {
  // expected-error @below {{has operands and block arguments of different types}}
  %0 = "graph.fusion"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    graph.yield %a : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @a_group_yields_the_types_of_its_results(%x: tensor<4xf32>) {
  // expected-error @below {{must yield exactly its results}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf64>) {
    // expected-note @below {{the group ends here}}
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @a_group_holds_no_group(%x: tensor<4xf32>) {
  // expected-note @below {{the group begins here}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{cannot be part of a kernel group}}
    %1 = graph.fusion (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      graph.yield %b : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @a_group_holds_graph_ops_only(%x: tensor<4xf32>) {
  // expected-note @below {{the group begins here}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{cannot be part of a kernel group}}
    %1 = math.exp %a : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}
