// One broken rule each of passes/promise/Partitioned.cpp; those of the signature are in import.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=partitioned

// P1: a symbolic shape
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<?xf32, #graph.dims<["n"]>> {graph.name = "x", graph.role = "input"}) {
    // expected-error @+1 {{partitioned P1: graph.exp has a result of type}}
    %0 = graph.exp %x : tensor<?xf32, #graph.dims<["n"]>>
    return
  }
}

// -----
// P2: no mesh
// expected-error @+1 {{partitioned P2: the module has no mesh.mesh}}
module {
  func.func @step() { return }
}

// -----
// P2: an argument without its whole tensor
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{partitioned P2: argument 'x' has no mesh.global and mesh.sharding on the mesh}}
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) { return }
}

// -----
// P2: a partial sum as a result
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{partitioned P2: result 'y' has the layout [_] partial(dp), which is partial or not of the rank of 'tensor<4xf32>'}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{}]>})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{}], partial = sum {dp}>}) {
    return %x : tensor<4xf32>
  }
}

// -----
// P3: seven elements on two ranks are blocks of four
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{partitioned P3: argument 'x' has the type 'tensor<3xf32>', but a block of 'tensor<7xf32>' in the layout [dp] is 'tensor<4xf32>'}}
  func.func @step(%x: tensor<3xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<7xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}) { return }
}

// -----
// P4: a new value in another layout
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{partitioned P4: result 's' has another mesh.sharding than the argument that it replaces}}
  func.func @step(%s: tensor<2x4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64},
                                       mesh.global = tensor<4x4xf32>, mesh.sharding = #mesh.sharding<[{dp}, {}]>})
      -> (tensor<2x4xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64,
                           mesh.global = tensor<2x8xf32>, mesh.sharding = #mesh.sharding<[{}, {dp}]>}) {
    return %s : tensor<2x4xf32>
  }
}

// -----
// P5: a strategy that is left
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{partitioned P5: graph.reverse still has a mesh.strategy}}
    %0 = graph.reverse %x dim 0 {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}]>]>} : tensor<2xf32>
    return
  }
}

// -----
// P6: an op outside of kernel groups
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{partitioned P6: graph.exp is outside of kernel groups, expected it inside one}}
    %0 = graph.exp %x : tensor<2xf32>
    return
  }
}

// -----
// P7: a group that gives away a value of fewer dims than it runs over (G4)
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x4xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<4x4xf32>, mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %b: tensor<4xf32> {graph.name = "b", graph.role = "input", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error @+1 {{partitioned P7: graph.fusion is no kernel group that the rules of passes/fuse/Groups.h allow}}
    %0, %1 = graph.fusion (%a = %x : tensor<2x4xf32>, %c = %b : tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>) {
      %2 = graph.exp %c : tensor<4xf32>
      %3 = graph.broadcast %2 to [1] : tensor<4xf32> -> tensor<2x4xf32>
      %4 = graph.add %a, %3 : tensor<2x4xf32>
      graph.yield %4, %2 : tensor<2x4xf32>, tensor<4xf32>
    }
    return
  }
}
