// Errors of the mesh dialect beyond one per constraint (constraints.mlir, invalid.mlir): the
// parsers of the attributes, and the other branches of each rule.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// -- attributes --

// expected-error @below {{expected sum, max or min, found prod}}
module @a_product_is_no_reduction_of_ranks attributes {test = #mesh.sharding<[{}], partial = prod {dp}>} {}

// -----

// expected-error @below {{expected 'partial'}}
module @after_the_dims_come_partial_axes attributes {test = #mesh.sharding<[{}], {dp}>} {}

// -----

// expected-error @below {{mesh axis "dp" occurs twice}}
module @an_axis_splits_or_holds_summands attributes {test = #mesh.sharding<[{dp}], partial = sum {dp}>} {}

// -----

// expected-error @below {{mesh axis "dp" occurs twice}}
module @an_axis_splits_a_dim_once attributes {test = #mesh.sharding<[{dp, dp}]>} {}

// -----

// expected-error @below {{mesh axis "dp" occurs twice}}
module @an_axis_splits_a_factor_or_holds_partial_operands attributes {test = #mesh.strategy<[{dp}], partial = {dp}, results = []>} {}

// -----

// expected-error @below {{expected 'results'}}
module @a_strategy_has_results attributes {test = #mesh.strategy<[{dp}], [#mesh.sharding<[{dp}]>]>} {}

// -----

// expected-error @below {{expected '{' in a list of axes}}
module @axes_are_in_braces attributes {test = #mesh.sharding<[dp]>} {}

// -----

// expected-error @below {{expected '['}}
module @a_mesh_is_a_list attributes {test = #mesh.mesh<dp = 2>} {}

// -----

// expected-error @below {{mesh axis "tp" has -1 ranks, expected at least one}}
module @no_axis_has_a_negative_number_of_ranks attributes {test = #mesh.mesh<[dp = 2, tp = -1]>} {}

// -- collectives --

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @an_offset_has_an_axis() {
    // expected-error @below {{needs at least one mesh axis}}
    %0 = mesh.block_offset over {} block 4 : tensor<i64>
    return
  }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @no_block_has_a_negative_size() {
    // expected-error @below {{has a block of -4 elements, expected at least one}}
    %0 = mesh.block_offset over {dp} block -4 : tensor<i64>
    return
  }
}

// -----

// expected-note @below {{the mesh is declared here}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @axes_are_names(%a: tensor<4xf32>) {
    // expected-error @below {{names the axis 0 : i64, which is not an axis of #mesh.mesh<[dp = 2]>}}
    %0 = "mesh.all_reduce"(%a) <{kind = #mesh<reduction sum>, axes = [0]}> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-note @below {{the operand has type 'tensor<4xf32>'}}
  func.func @no_negative_dim_is_gathered(%a: tensor<4xf32>) {
    // expected-error @below {{has dim -1, but the operand has 1 dims}}
    %0 = mesh.all_gather %a dim -1 over {dp} : tensor<4xf32> -> tensor<8xf32>
    return
  }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-note @below {{the operand has type 'tensor<f32>'}}
  func.func @a_scalar_is_not_scattered(%a: tensor<f32>) {
    // expected-error @below {{has dim 0, but the operand has 0 dims}}
    %0 = mesh.reduce_scatter sum %a dim 0 over {dp} : tensor<f32> -> tensor<f32>
    return
  }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-note @below {{the operand has type 'tensor<4x4xf32>'}}
  func.func @an_exchange_comes_from_a_dim_that_exists(%a: tensor<4x4xf32>) {
    // expected-error @below {{has from 3, but the operand has 2 dims}}
    %0 = mesh.all_to_all %a from 3 to 0 over {dp} : tensor<4x4xf32> -> tensor<2x8xf32>
    return
  }
}

// -----

// expected-note @below {{the mesh is #mesh.mesh<[dp = 2, tp = 4]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @several_axes_split_into_the_product_of_their_ranks(%a: tensor<16xf32>) {
    // expected-error @below {{but the first is not a block of the second when dim 0 is split over 8 ranks}}
    %0 = mesh.slice %a dim 0 over {dp, tp} : tensor<16xf32> -> tensor<4xf32>
    return
  }
}

// -----

// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @a_gather_keeps_the_element_type(%a: tensor<4xf32>) {
    // expected-error @below {{has the types 'tensor<4xf32>' and 'tensor<8xf64>', but the first is not a block of the second}}
    %0 = mesh.all_gather %a dim 0 over {dp} : tensor<4xf32> -> tensor<8xf64>
    return
  }
}

// -----

// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @a_gather_keeps_the_other_dims(%a: tensor<4x3xf32>) {
    // expected-error @below {{has the types 'tensor<4x3xf32>' and 'tensor<8x6xf32>', but the first is not a block of the second when dim 0 is split over 2 ranks}}
    %0 = mesh.all_gather %a dim 0 over {dp} : tensor<4x3xf32> -> tensor<8x6xf32>
    return
  }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @ranks_multiply_nothing(%a: tensor<4xf32>) {
    // expected-error @+2 {{expected ::cleave::mesh::Reduction to be one of: sum, max, min}}
    // expected-error @below {{failed to parse Mesh_ReductionAttr}}
    %0 = mesh.all_reduce prod %a over {dp} : tensor<4xf32>
    return
  }
}
