// Arguments and results of a partitioned step: the layouts in which they lie outside of it.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// Arguments and results carry the type of the whole tensor and its layout; a name is kept.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<4x6xf32> {graph.name = "x", mesh.global = tensor<8x6xf32>, mesh.sharding = #mesh.sharding<[{dp}, {}]>}
// CHECK-SAME: -> (tensor<4x6xf32> {graph.name = "y", mesh.global = tensor<8x6xf32>, mesh.sharding = #mesh.sharding<[{dp}, {}]>})
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {graph.name = "x", mesh.sharding = #mesh.sharding<[{dp}, {}]>})
      -> (tensor<8x6xf32> {graph.name = "y"}) {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}

// -----

// An argument without a layout is whole on every rank.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<8xf32> {mesh.global = tensor<8xf32>, mesh.sharding = #mesh.sharding<[{}]>}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// The strategies of ops and the layouts of use are gone from the result.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{strategy|compute}}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8xf32> {graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>,
                                     mesh.compute = #mesh.sharding<[{}]>}) -> tensor<8xf32> {
    %0 = graph.exp %w {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// An output never leaves as partial sums.
// CHECK-LABEL: func @step
// CHECK: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: %[[R:.*]] = mesh.all_reduce sum %[[P]] over {dp} {mesh.part = "update"}
// CHECK-NEXT: return %[[R]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<4xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>}
      : tensor<8x4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A partial maximum leaves as a maximum.
// CHECK-LABEL: func @step
// CHECK: graph.reduce max
// CHECK-NEXT: mesh.all_reduce max %{{.*}} over {dp}
// CHECK: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<4xf32> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = max {dp}>]>}
      : tensor<8x4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A new value takes the layout of the argument that it replaces.
// CHECK-LABEL: func @step
// CHECK-SAME: -> (tensor<4xf32> {graph.alias = 0 : i64, mesh.global = tensor<8xf32>, mesh.sharding = #mesh.sharding<[{dp}]>})
// CHECK: %[[G:.*]] = mesh.all_gather
// CHECK-NEXT: %[[Q:.*]] = graph.exp %[[G]] : tensor<8xf32>
// CHECK-NEXT: %[[S:.*]] = mesh.slice %[[Q]] dim 0 over {dp} {mesh.part = "update"} : tensor<8xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[S]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%p: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> (tensor<8xf32> {graph.alias = 0 : i64}) {
    %0 = graph.exp %p : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// An argument that is returned for another one changes to the layout of the other.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[P:.*]]: tensor<4xf32> {{{.*}}}, %[[Q:.*]]: tensor<8xf32> {{{.*}}})
// CHECK: %[[S:.*]] = mesh.slice %[[Q]]
// CHECK-NEXT: %[[G:.*]] = mesh.all_gather %[[P]]
// CHECK-NEXT: return %[[S]], %[[G]] : tensor<4xf32>, tensor<8xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%p: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}, %q: tensor<8xf32>)
      -> (tensor<8xf32> {graph.alias = 0 : i64}, tensor<8xf32> {graph.alias = 1 : i64}) {
    return %q, %p : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A reader in the layout of storage does not go through the layout of use.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{all|slice}}
// CHECK: graph.exp %{{.*}} : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8xf32> {graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>,
                                     mesh.compute = #mesh.sharding<[{}]>}) -> tensor<8xf32> {
    %0 = graph.exp %w {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A reader in a third layout starts from the layout of use: one gather, then a slice for it alone.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32>
// CHECK: %[[G:.*]] = mesh.all_gather %[[W]] dim 0 over {dp}
// CHECK-NEXT: %[[S:.*]] = mesh.slice %[[G]] dim 1 over {dp}
// CHECK-NEXT: graph.exp %[[S]] : tensor<8x4xf32>
// CHECK-NEXT: graph.neg %[[G]] : tensor<8x8xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8x8xf32> {graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}, {}]>,
                                       mesh.compute = #mesh.sharding<[{}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = graph.exp %w {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}, {dp}]>]>} : tensor<8x8xf32>
    %1 = graph.neg %w : tensor<8x8xf32>
    return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// A module of one rank keeps its shapes.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<8xf32> {mesh.global = tensor<8xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}
// CHECK-NEXT: graph.exp %{{.*}} : tensor<8xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 1]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
