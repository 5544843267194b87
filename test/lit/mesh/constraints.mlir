// The constraints of the mesh dialect, as numbered in dialects/mesh/MeshOps.td. More are in invalid.mlir.
// RUN: cleave-opt --verify-diagnostics=only-expected --split-input-file %s

// mesh.all_reduce (C2)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @a_bucket_holds_a_tensor() {
    // expected-error @below {{needs at least one operand}}
    "mesh.all_reduce"() <{kind = #mesh<reduction sum>, axes = ["dp"]}> : () -> ()
    return
  }
}

// -----

// mesh.all_reduce (C8)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @a_reduction_keeps_the_type(%a: tensor<4xf32>) {
    // expected-error @below {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
    %0 = "mesh.all_reduce"(%a) <{kind = #mesh<reduction sum>, axes = ["dp"]}> : (tensor<4xf32>) -> tensor<5xf32>
    return
  }
}

// -----

// mesh.all_to_all (C3)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @a_split_moves_between_dims_that_exist(%a: tensor<4x4xf32>) {
    // expected-error @below {{has to 2, but the operand has 2 dims}}
    %0 = mesh.all_to_all %a from 0 to 2 over {dp} : tensor<4x4xf32> -> tensor<8x2xf32>
    return
  }
}

// -----

// mesh.all_to_all (C9)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @an_exchange_keeps_the_rank(%a: tensor<4x4xf32>) {
    // expected-error @below {{has an operand and a result of different ranks}}
    %0 = mesh.all_to_all %a from 0 to 1 over {dp} : tensor<4x4xf32> -> tensor<8xf32>
    return
  }
}

// -----

// mesh.all_to_all (C4)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @an_exchange_joins_blocks(%a: tensor<4x4xf32>) {
    // expected-error @below {{has the types 'tensor<4x4xf32>' and 'tensor<9x4xf32>', but the first is not a block of the second when dim 0 is split over 2 ranks}}
    %0 = mesh.all_to_all %a from 0 to 1 over {dp} : tensor<4x4xf32> -> tensor<9x2xf32>
    return
  }
}

// -----

// mesh.all_to_all (C5)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @an_exchange_splits_into_blocks(%a: tensor<4x4xf32>) {
    // expected-error @below {{has the types 'tensor<8x3xf32>' and 'tensor<8x4xf32>', but the first is not a block of the second when dim 1 is split over 2 ranks}}
    %0 = mesh.all_to_all %a from 0 to 1 over {dp} : tensor<4x4xf32> -> tensor<8x3xf32>
    return
  }
}

// -----

// mesh.permute (C8)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @blocks_that_move_keep_their_type(%a: tensor<4xf32>) {
    // expected-error @below {{requires the same type for all operands and results}}
    %0 = "mesh.permute"(%a) <{axes = ["dp", "tp"], toAxes = ["tp", "dp"]}> : (tensor<4xf32>) -> tensor<5xf32>
    return
  }
}

// -----

// mesh.permute (C11)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @blocks_move_along_the_axes_of_the_group(%a: tensor<4xf32>) {
    // expected-error @below {{moves blocks from positions along ["dp"] to positions along ["tp"], expected the same axes}}
    %0 = mesh.permute %a over {dp} to {tp} : tensor<4xf32>
    return
  }
}

// -----

// mesh.block_offset (C10)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @an_offset_is_a_scalar() {
    // expected-error @below {{inferred type(s) 'tensor<i64>' are incompatible with return type(s) of operation 'tensor<1xi64>'}}
    %0 = mesh.block_offset over {dp} block 4 : tensor<1xi64>
    return
  }
}

// -----

// #mesh.mesh (M1)
// expected-error @below {{mesh axis "dp" has 0 ranks, expected at least one}}
module attributes {test = #mesh.mesh<[dp = 0]>} {}

// -----

// #mesh.mesh (M2)
// expected-error @below {{mesh axis "dp" occurs twice}}
module attributes {test = #mesh.mesh<[dp = 2, dp = 2]>} {}

// -----

// #mesh.sharding (S1)
// expected-error @below {{mesh axis "dp" occurs twice}}
module attributes {test = #mesh.sharding<[{dp}, {dp}]>} {}

// -----

// #mesh.strategy (T1)
// expected-error @below {{mesh axis "dp" occurs twice}}
module attributes {test = #mesh.strategy<[{dp}, {dp}], results = [#mesh.sharding<[{dp}]>]>} {}

// -----

// #mesh.strategy (T2)
// expected-error @below {{expected a sharding as layout of a result, found 1 : i64}}
module attributes {test = #mesh.strategy<[{dp}], results = [1]>} {}

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  func.func @integers_of_four_bits_are_no_elements(%a: tensor<4xi4>) {
    // expected-error @below {{operand #0 must be variadic of ranked tensor of f64, f32, f16 or bf16 or i1, i8 to i64 or ui8 to ui64 values, but got 'tensor<4xi4>'}}
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xi4>
    return
  }
}
