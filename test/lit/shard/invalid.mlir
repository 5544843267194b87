// Errors of partitioning.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-shard-partition

// expected-error @+1 {{has no function @step}}
module {}

// -----
// expected-error @+1 {{cannot be partitioned: the module has no attribute mesh.mesh}}
func.func @step(%x: tensor<4xf32>) { return }

// -----
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @+1 {{argument 0 has mesh.sharding #mesh.sharding<[{tp}]>, which is not a layout of 'tensor<4xf32>' on the module's mesh}}
  func.func @step(%x: tensor<4xf32> {mesh.sharding = #mesh.sharding<[{tp}]>}) { return }
}

// -----
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has a strategy that does not fit its factor rule a -> a}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = []>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has a strategy with partial operands, but is not linear}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}]>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has a strategy with layouts that do not fit its results}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}, {}]>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<f32> {
    // expected-error @+1 {{has a strategy with result 0 in the layout [] partial(dp), but leaves it in [] partial(max dp)}}
    %0 = graph.reduce max %x over [0] {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[], partial = sum {dp}>]>} : tensor<4xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has a strategy with result 0 in the layout [_] partial(dp), but leaves it in [dp]}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// expected-note @below {{the mesh is #mesh.mesh<[dp = 2]>}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{result 0 has a copy in #mesh.sharding<[{dp}, {}]>, which is not a layout of 'tensor<4xf32>' on the module's mesh}}
    %0 = graph.exp %x {mesh.copies = [{backward = #mesh.sharding<[{dp}, {}]>}]} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has mesh.copies of 2 results}}
    %0 = graph.exp %x {mesh.copies = [{}, {}]} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{result 0 has mesh.copies [], expected layouts by part of the step}}
    %0 = graph.exp %x {mesh.copies = [[]]} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{has mesh.buckets of 2 results}}
    %0 = graph.exp %x {mesh.buckets = array<i64: 0, 0>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
