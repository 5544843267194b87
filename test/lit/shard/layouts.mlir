// Changes of layout between ops: which collective joins two layouts, and where it stands.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// A whole tensor becomes split by a slice, without communication.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>
// CHECK: %[[S:.*]] = mesh.slice %[[X]] dim 0 over {dp} {{.*}} : tensor<8xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.exp %[[S]] : tensor<4xf32>
// CHECK-NEXT: return %[[Y]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A split result that is wanted whole is gathered behind its op.
// CHECK-LABEL: func @step
// CHECK: %[[E:.*]] = graph.exp
// CHECK-NEXT: %[[G:.*]] = mesh.all_gather %[[E]] dim 0 over {dp} {{.*}} : tensor<4xf32> -> tensor<8xf32>
// CHECK-NEXT: return %[[G]] : tensor<8xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Seven elements on two ranks have blocks of four; the gathered tensor has seven.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<4xf32> {mesh.global = tensor<7xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}
// CHECK: mesh.all_gather %{{.*}} dim 0 over {dp} {{.*}} : tensor<4xf32> -> tensor<7xf32>
// CHECK-NEXT: graph.exp %{{.*}} : tensor<7xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<7xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<7xf32> {
    %0 = graph.exp %x : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// An op without a strategy computes the whole tensor on every rank.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{all|slice|reduce}}
// CHECK: graph.exp %{{.*}} : tensor<8xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = graph.exp %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Layouts that agree need nothing between the ops.
// CHECK-LABEL: func @step
// CHECK: graph.exp %{{.*}} : tensor<4xf32>
// CHECK-NEXT: graph.exp %{{.*}} : tensor<4xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    %1 = graph.exp %0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// Two axes on one dim are gathered at once, and the blocks are ordered by the first axis.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<2xf32> {mesh.global = tensor<8xf32>
// CHECK: mesh.all_gather %{{.*}} dim 0 over {dp, tp} {{.*}} : tensor<2xf32> -> tensor<8xf32>
// CHECK-NOT: mesh.all_gather
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp, tp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Only the minor axis is gathered where the major one stays.
// CHECK-LABEL: func @step
// CHECK: mesh.all_gather %{{.*}} dim 0 over {tp} {{.*}} : tensor<2xf32> -> tensor<4xf32>
// CHECK-NEXT: graph.exp %{{.*}} : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp, tp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A dim that is split already is split further by a slice of the block.
// CHECK-LABEL: func @step
// CHECK: mesh.slice %{{.*}} dim 0 over {tp} {{.*}} : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: graph.exp %{{.*}} : tensor<2xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp, tp}], results = [#mesh.sharding<[{dp, tp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Blocks of three do not consist of two blocks of two: a further split gathers five elements first.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<3xf32> {mesh.global = tensor<5xf32>
// CHECK: mesh.all_gather %{{.*}} dim 0 over {dp} {{.*}} : tensor<3xf32> -> tensor<5xf32>
// CHECK-NEXT: mesh.slice %{{.*}} dim 0 over {dp, tp} {{.*}} : tensor<5xf32> -> tensor<2xf32>
// CHECK-NEXT: graph.exp %{{.*}} : tensor<2xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<5xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<5xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp, tp}], results = [#mesh.sharding<[{dp, tp}]>]>} : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----

// An axis of one rank splits nothing: the layout changes without an op.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{all|slice|reduce}}
// CHECK: graph.exp %{{.*}} : tensor<4xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 1]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp, tp}], results = [#mesh.sharding<[{dp, tp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A sum over two axes is one all_reduce over both.
// CHECK-LABEL: func @step
// CHECK: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: mesh.all_reduce sum %[[P]] over {dp, tp} {{.*}} : tensor<f32>
// CHECK-NOT: mesh.all_reduce
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<8x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {tp}]>}) -> tensor<f32> {
    %0 = graph.reduce sum %x over [0, 1]
      {mesh.strategy = #mesh.strategy<[{dp}, {tp}], results = [#mesh.sharding<[]>]>} : tensor<8x8xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Of two partial axes, one is reduced and the other stays partial for a linear op.
// CHECK-LABEL: func @step
// CHECK: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: %[[R:.*]] = mesh.all_reduce sum %[[P]] over {tp}
// CHECK-NEXT: %[[N:.*]] = graph.neg %[[R]]
// CHECK-NEXT: mesh.all_reduce sum %[[N]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<8x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {tp}]>}) -> tensor<f32> {
    %0 = graph.reduce sum %x over [0, 1]
      {mesh.strategy = #mesh.strategy<[{dp}, {tp}], results = [#mesh.sharding<[], partial = sum {dp}>]>}
      : tensor<8x8xf32> -> tensor<f32>
    %1 = graph.neg %0 {mesh.strategy = #mesh.strategy<[], partial = {dp}, results = [#mesh.sharding<[]>]>} : tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

// A minimum of candidates is reduced as a minimum.
// CHECK-LABEL: func @step
// CHECK: %[[P:.*]] = graph.reduce min
// CHECK-NEXT: mesh.all_reduce min %[[P]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<4xf32> {
    %0 = graph.reduce min %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>} : tensor<8x4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A maximum that is wanted split is reduced as a maximum and scattered.
// CHECK-LABEL: func @step
// CHECK: graph.reduce max
// CHECK-NEXT: mesh.reduce_scatter max %{{.*}} dim 0 over {dp} {{.*}} : tensor<4xf32> -> tensor<2xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<4xf32> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8x4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Two readers that want the same layout share one gather.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = mesh.all_gather
// CHECK-NEXT: graph.exp %[[G]]
// CHECK-NEXT: graph.neg %[[G]]
// CHECK-NOT: mesh.all_gather
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.exp %x : tensor<8xf32>
    %1 = graph.neg %x : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// An op that reads a value twice in one layout gets one copy.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = mesh.all_gather
// CHECK-NEXT: graph.mul %[[G]], %[[G]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.mul %x, %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A value with two layouts: a reader of the first reads the home, a reader of the other a copy.
// CHECK-LABEL: func @step
// CHECK: %[[E:.*]] = graph.exp
// CHECK-NEXT: %[[A:.*]] = graph.neg %[[E]] : tensor<4xf32>
// CHECK-NEXT: %[[G:.*]] = mesh.all_gather %[[E]]
// CHECK-NEXT: %[[B:.*]] = graph.abs %[[G]] : tensor<8xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    %1 = graph.neg %0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    %2 = graph.abs %0 : tensor<8xf32>
    return %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
}
