// Partitioning by hand-written strategies: the collectives and their places.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// A weight split by columns, then one by rows: exactly one all_reduce.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x6xf32>
// CHECK-SAME: %[[W:[^:]*]]: tensor<6x4xf32> {mesh.global = tensor<6x8xf32>
// CHECK-SAME: %[[V:[^:]*]]: tensor<4x6xf32> {mesh.global = tensor<8x6xf32>
// CHECK-NOT: mesh.{{all|slice|reduce}}
// CHECK: graph.dot_general %[[X]], %[[W]]
// CHECK-NOT: mesh.
// CHECK: %[[P:.*]] = graph.dot_general
// CHECK-NEXT: %[[Y:.*]] = mesh.all_reduce sum %[[P]] over {tp}{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: return %[[Y]]
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x6xf32>, %w: tensor<6x8xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}]>},
                  %v: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}) -> tensor<4x6xf32> {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{}, {tp}, {}], results = [#mesh.sharding<[{}, {tp}]>]>}
      : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
    %1 = graph.dot_general %0, %v batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{}, {}, {tp}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}

// -----

// A parameter that lives split is gathered once for all its readers in one part of the step.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x6xf32>
// CHECK-SAME: %[[W:[^:]*]]: tensor<3x6xf32>
// CHECK: %[[G:.*]] = mesh.all_gather %[[W]] dim 0 over {dp}{{.*}} : tensor<3x6xf32> -> tensor<6x6xf32>
// CHECK: graph.dot_general %[[X]], %[[G]]
// CHECK-NOT: mesh.all_gather
// CHECK: graph.dot_general %{{.*}}, %[[G]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %w: tensor<6x6xf32> {graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}, {}]>,
                                       mesh.compute = #mesh.sharding<[{}, {}]>})
      -> (tensor<4x6xf32> {graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
    %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}

// -----

// A partial result that is wanted split is reduced and scattered at once.
// CHECK-LABEL: func @step
// CHECK: graph.reduce sum
// CHECK: mesh.reduce_scatter sum %{{.*}} dim 0 over {dp}{{.*}} : tensor<6xf32> -> tensor<3xf32>
// CHECK-NOT: mesh.
// CHECK: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<6xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}]>]>} : tensor<4x6xf32> -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// A linear op takes summands as they are; the sum is made once, at the end.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.all_reduce
// CHECK: %[[S:.*]] = graph.add
// CHECK-NEXT: mesh.all_reduce sum %[[S]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %y: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<6xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>}
      : tensor<4x6xf32> -> tensor<6xf32>
    %1 = graph.reduce sum %y over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>}
      : tensor<4x6xf32> -> tensor<6xf32>
    %2 = graph.add %0, %1
      {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}]>]>} : tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}

// -----

// A split that moves between dims is one all_to_all.
// CHECK-LABEL: func @step
// CHECK: graph.exp
// CHECK-NEXT: mesh.all_to_all %{{.*}} from 0 to 1 over {dp}{{.*}} : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: graph.exp
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<8x8xf32> {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x8xf32>
    %1 = graph.exp %0 {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}, {dp}]>]>} : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}

// -----

// Seven rows on four ranks: the padding is kept out of the maximum.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<2x3xf32>
// CHECK: %[[B:.*]] = mesh.block_offset over {dp} block 2
// CHECK: graph.iota dim 0
// CHECK: graph.broadcast %[[B]]
// CHECK: %[[M:.*]] = graph.select
// CHECK: graph.reduce max %[[M]] over [0] : tensor<2x3xf32> -> tensor<3xf32>
// CHECK-NEXT: mesh.all_reduce max
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<3xf32> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>} : tensor<7x3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

// Inside a kernel group the position of the block is one more operand.
// CHECK-LABEL: func @step
// CHECK: %[[B:.*]] = mesh.block_offset over {dp} block 2
// CHECK: graph.fusion (%{{.*}} = %{{.*}} : tensor<2x3xf32>, %[[O:.*]] = %[[B]] : tensor<i64>) -> (tensor<3xf32>)
// CHECK: graph.exp
// CHECK: graph.broadcast %[[O]]
// CHECK: graph.select
// CHECK: graph.reduce sum
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<3xf32> {
    %0 = graph.fusion (%a = %x : tensor<7x3xf32>) -> (tensor<3xf32>) {
      %e = graph.exp %a : tensor<7x3xf32>
      %r = graph.reduce sum %e over [0] : tensor<7x3xf32> -> tensor<3xf32>
      graph.yield %r : tensor<3xf32>
    } {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>}
    return %0 : tensor<3xf32>
  }
}

// -----

// Rows of a table on two ranks: every rank looks up what it has, and the sum is whole.
// CHECK-LABEL: func @step
// CHECK: mesh.block_offset over {tp} block 5
// CHECK: graph.sub
// CHECK: graph.gather {{.*}} tensor<5x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
// CHECK-NEXT: mesh.all_reduce sum
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%t: tensor<10x3xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}, %i: tensor<4xi64>) -> tensor<4x3xf32> {
    %0 = graph.gather %t at %i dim 0
      {mesh.strategy = #mesh.strategy<[{tp}, {}, {}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<10x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
