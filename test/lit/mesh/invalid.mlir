// Errors of the verifiers of collectives; constraints as numbered in dialects/mesh/MeshOps.td. See
// also constraints.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// mesh.all_reduce (C1): no mesh
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs a mesh: the module has no attribute mesh.mesh}}
  %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// mesh.all_reduce (C1): unknown axis
// expected-note @below {{the mesh is declared here}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{names the axis "tp", which is not an axis of #mesh.mesh<[dp = 2]>}}
    %0 = mesh.all_reduce sum %a over {tp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// mesh.all_reduce (C1): an axis twice
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{names the axis "dp" twice}}
    %0 = mesh.all_reduce sum %a over {dp, dp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// mesh.slice (C1): no axis
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<4xf32>) -> tensor<2xf32> {
    // expected-error @+1 {{needs at least one mesh axis}}
    %0 = mesh.slice %a dim 0 over {} : tensor<4xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// mesh.all_reduce (C2): two element types in a bucket
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-note @below {{this operand has type 'tensor<4xf64>'}}
  func.func @f(%a: tensor<4xf32>, %b: tensor<4xf64>) {
    // expected-error @+1 {{has operands of the element types 'f32' and 'f64', expected one type}}
    %0:2 = mesh.all_reduce sum %a, %b over {dp} : tensor<4xf32>, tensor<4xf64>
    return
  }
}

// -----
// mesh.slice (C3)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-note @below {{the operand has type 'tensor<4xf32>'}}
  func.func @f(%a: tensor<4xf32>) -> tensor<2xf32> {
    // expected-error @+1 {{has dim 1, but the operand has 1 dims}}
    %0 = mesh.slice %a dim 1 over {dp} : tensor<4xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// mesh.all_gather (C4)
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<4xf32>) -> tensor<9xf32> {
    // expected-error @+1 {{has the types 'tensor<4xf32>' and 'tensor<9xf32>', but the first is not a block of the second when dim 0 is split over 2 ranks}}
    %0 = mesh.all_gather %a dim 0 over {dp} : tensor<4xf32> -> tensor<9xf32>
    return %0 : tensor<9xf32>
  }
}

// -----
// mesh.reduce_scatter (C5)
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<5xf32>) -> tensor<2xf32> {
    // expected-error @+1 {{has the types 'tensor<2xf32>' and 'tensor<5xf32>', but the first is not a block}}
    %0 = mesh.reduce_scatter sum %a dim 0 over {dp} : tensor<5xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// mesh.all_to_all (C6)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @+1 {{has the same dim 1 as from and to}}
    %0 = mesh.all_to_all %a from 1 to 1 over {dp} : tensor<4x4xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----
// mesh.block_offset (C7)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @f() -> tensor<i64> {
    // expected-error @+1 {{has a block of 0 elements, expected at least one}}
    %0 = mesh.block_offset over {dp} block 0 : tensor<i64>
    return %0 : tensor<i64>
  }
}
