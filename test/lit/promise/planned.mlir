// One broken rule each of passes/promise/Planned.cpp; those of the signature are in import.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=planned

// P1: no mesh
// expected-error @+1 {{planned P1: the module has no mesh.mesh}}
module {
  func.func @step() { return }
}

// -----
// P1: a symbolic shape
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<?xf32, #graph.dims<["n"]>> {graph.name = "x", graph.role = "input"})
      -> (tensor<?xf32, #graph.dims<["n"]>> {graph.name = "y", graph.role = "output"}) {
    // expected-error @+1 {{planned P1: graph.exp has a result of type}}
    %0 = graph.exp %x : tensor<?xf32, #graph.dims<["n"]>>
    return %0 : tensor<?xf32, #graph.dims<["n"]>>
  }
}

// -----
// P2: an argument without a layout
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{planned P2: argument 'x' has no mesh.sharding}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) { return }
}

// -----
// P2: a layout on an axis that the mesh does not have
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{planned P2: argument 'x' has mesh.sharding #mesh.sharding<[{tp}]>, which is not a layout of 'tensor<4xf32>' on the mesh}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{tp}]>}) { return }
}

// -----
// P3: an op without a strategy
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{planned P3: graph.exp has no mesh.strategy on the mesh}}
    %0 = graph.exp %x : tensor<4xf32>
    return
  }
}

// -----
// P3: one factor, two lists of axes
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{planned P3: graph.exp has a mesh.strategy that does not fit its factor rule a -> a}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}]>]>} : tensor<4xf32>
    return
  }
}

// -----
// P3: summands for an op that is not linear
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error @+1 {{planned P3: graph.exp has partial operands, but is not linear}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}]>]>} : tensor<4xf32>
    return
  }
}

// -----
// P4: a result without a layout
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{planned P4: graph.exp has 1 results, but layouts of 0}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = []>} : tensor<4xf32>
    return
  }
}

// -----
// P4: a layout of another rank
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{planned P4: graph.exp has the layout [dp, _] for result 0 of type 'tensor<4xf32>'}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<4xf32>
    return
  }
}

// -----
// P4: a partial result of an op that has no summands
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error @+1 {{planned P4: graph.exp has the layout [_] partial(dp) for result 0, but leaves it complete along dp}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>} : tensor<4xf32>
    return
  }
}

// -----
// P4: maxima that would be added up
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @+1 {{planned P4: graph.reduce has the layout [] partial(dp) for result 0, but its partial results combine by max}}
    %0 = graph.reduce max %x over [0] {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[], partial = sum {dp}>]>} : tensor<4xf32> -> tensor<f32>
    return
  }
}

// -----
// P4: summands that pass through a linear op combine by sums
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error @+1 {{planned P4: graph.neg has the layout [_] partial(min dp) for result 0, but its partial results combine by sum}}
    %0 = graph.neg %x {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}], partial = min {dp}>]>} : tensor<4xf32>
    return
  }
}
