// Strategies and layouts that partitioning refuses, each for its own reason.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-shard-partition

// A dim that an op needs whole.
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    // expected-error @below {{'graph.scan' op has a strategy that does not fit its factor rule a !b -> a !b}}
    %0 = graph.scan sum %x dim 1 {mesh.strategy = #mesh.strategy<[{}, {dp}], results = []>} : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}

// -----

// A product over a split dim, for which there is no collective.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<f32> {
    // expected-error @below {{has a strategy that does not fit its factor rule}}
    %0 = graph.reduce prod %x over [0] {mesh.strategy = #mesh.strategy<[{dp}], results = []>} : tensor<4xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Fewer elements than ranks.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<3xf32>) -> tensor<3xf32> {
    // expected-error @below {{has a strategy that does not fit its factor rule}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = []>} : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

// A reshape that would move the split to the minor part of a dim.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32>) -> tensor<24xf32> {
    // expected-error @below {{has a strategy that does not fit its factor rule}}
    %0 = graph.reshape %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = []>} : tensor<4x6xf32> -> tensor<24xf32>
    return %0 : tensor<24xf32>
  }
}

// -----

// A reshape that joins uneven blocks with other elements: the padding would lie in between.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<3x6xf32>) -> tensor<18xf32> {
    // expected-error @below {{has a strategy that does not fit its factor rule}}
    %0 = graph.reshape %x {mesh.strategy = #mesh.strategy<[{}, {dp}], results = []>} : tensor<3x6xf32> -> tensor<18xf32>
    return %0 : tensor<18xf32>
  }
}

// -----

// A constant with different elements.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<2xf32> {
    // expected-error @below {{has a strategy that does not fit its factor rule}}
    %0 = graph.constant {mesh.strategy = #mesh.strategy<[{dp}], results = []>} dense<[1.0, 2.0]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// A reduced dim of a group that uses its own sum.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    // expected-error @below {{'graph.fusion' op has a strategy that does not fit its factor rule a !b -> a !b}}
    %0 = graph.fusion (%a = %x : tensor<4x6xf32>) -> (tensor<4x6xf32>) {
      %1 = graph.reduce sum %a over [1] : tensor<4x6xf32> -> tensor<4xf32>
      %2 = graph.broadcast %1 to [0] : tensor<4xf32> -> tensor<4x6xf32>
      %3 = graph.div %a, %2 : tensor<4x6xf32>
      graph.yield %3 : tensor<4x6xf32>
    } {mesh.strategy = #mesh.strategy<[{}, {dp}], results = []>}
    return %0 : tensor<4x6xf32>
  }
}

// -----

// An axis that the mesh lacks.
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has a strategy that does not fit its factor rule a -> a}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{tp}], results = []>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// More layouts than results.
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has a strategy with layouts that do not fit its results}}
    %0 = graph.exp %x
      {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}]>, #mesh.sharding<[{}]>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// An argument that is a sum of the ranks' values: arguments are whole or split.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{argument 0 has mesh.sharding #mesh.sharding<[{}], partial = sum {dp}>, which is not a layout of 'tensor<4xf32>' on the module's mesh}}
  func.func @step(%x: tensor<4xf32> {mesh.sharding = #mesh.sharding<[{}], partial = sum {dp}>}) { return }
}

// -----

// A layout with another number of dims.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{argument 1 has mesh.sharding #mesh.sharding<[{dp}, {}]>, which is not a layout of 'tensor<4xf32>'}}
  func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) { return }
}

// -----

// A layout of use on an unknown axis.
// expected-note @below {{the mesh is}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{argument 0 has mesh.compute #mesh.sharding<[{tp}]>, which is not a layout of 'tensor<4xf32>'}}
  func.func @step(%x: tensor<4xf32> {mesh.sharding = #mesh.sharding<[{dp}]>, mesh.compute = #mesh.sharding<[{tp}]>}) { return }
}

// -----

// A step that is partitioned already: its collectives have no factor rule.
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{'mesh.all_reduce' op cannot be partitioned: it has no factor rule}}
    %0 = mesh.all_reduce sum %x over {dp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A step whose sizes are symbols.
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{a plan needs sizes: the tensor 'tensor<?xf32, #graph.dims<["batch"]>>' still has symbolic dims; give them values with --set NAME=SIZE}}
  func.func @step(%x: tensor<?xf32, #graph.dims<["batch"]>>) { return }
}
