// Kernel groups that are cut: every op inside computes on its block, and the group stays one.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// Operands, values and results have block shapes; an operand without the split dim is whole.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32> {{{.*}}}, %[[B:.*]]: tensor<6xf32> {
// CHECK-NEXT: graph.fusion (%[[A:.*]] = %[[X]] : tensor<4x6xf32>, %[[C:.*]] = %[[B]] : tensor<6xf32>) -> (tensor<4x6xf32>)
// CHECK-NEXT: %[[W:.*]] = graph.broadcast %[[C]] to [1] : tensor<6xf32> -> tensor<4x6xf32>
// CHECK-NEXT: graph.add %[[A]], %[[W]] : tensor<4x6xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}, %b: tensor<6xf32>) -> tensor<8x6xf32> {
    %0 = graph.fusion (%a = %x : tensor<8x6xf32>, %c = %b : tensor<6xf32>) -> (tensor<8x6xf32>) {
      %1 = graph.broadcast %c to [1] : tensor<6xf32> -> tensor<8x6xf32>
      %2 = graph.add %a, %1 : tensor<8x6xf32>
      graph.yield %2 : tensor<8x6xf32>
    } {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
    return %0 : tensor<8x6xf32>
  }
}

// -----

// Constants inside shrink along with the rest.
// CHECK-LABEL: func @step
// CHECK: graph.fusion
// CHECK-NEXT: graph.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: graph.mul %{{.*}} : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xf32> {
    %0 = graph.fusion (%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
      %1 = graph.constant dense<2.0> : tensor<8xf32>
      %2 = graph.mul %a, %1 : tensor<8xf32>
      graph.yield %2 : tensor<8xf32>
    } {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>}
    return %0 : tensor<8xf32>
  }
}

// -----

// Two counts inside share one begin of the block, which enters once.
// CHECK-LABEL: func @step
// CHECK: %[[B:.*]] = mesh.block_offset over {dp} block 4
// CHECK-NEXT: graph.fusion (%{{.*}} = %{{.*}} : tensor<4xi64>, %[[O:.*]] = %[[B]] : tensor<i64>) -> (tensor<4xi64>)
// CHECK: graph.iota dim 0 : tensor<4xi64>
// CHECK-NEXT: graph.broadcast %[[O]]
// CHECK: graph.iota dim 0 : tensor<4x3xi64>
// CHECK-NEXT: graph.broadcast %[[O]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xi64> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8xi64> {
    %0 = graph.fusion (%a = %x : tensor<8xi64>) -> (tensor<8xi64>) {
      %1 = graph.iota dim 0 : tensor<8xi64>
      %2 = graph.iota dim 0 : tensor<8x3xi64>
      %3 = graph.reduce sum %2 over [1] : tensor<8x3xi64> -> tensor<8xi64>
      %4 = graph.add %1, %3 : tensor<8xi64>
      %5 = graph.add %a, %4 : tensor<8xi64>
      graph.yield %5 : tensor<8xi64>
    } {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>}
    return %0 : tensor<8xi64>
  }
}

// -----

// A count along a dim that is whole needs no begin.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.block_offset
// CHECK: graph.fusion
// CHECK-NEXT: graph.iota dim 1 : tensor<4x6xi64>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xi64> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<8x6xi64> {
    %0 = graph.fusion (%a = %x : tensor<8x6xi64>) -> (tensor<8x6xi64>) {
      %1 = graph.iota dim 1 : tensor<8x6xi64>
      %2 = graph.add %a, %1 : tensor<8x6xi64>
      graph.yield %2 : tensor<8x6xi64>
    } {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
    return %0 : tensor<8x6xi64>
  }
}

// -----

// A group with a split result and a sum: the sum alone is reduced over the ranks.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[F:.*]]:2 = graph.fusion (%{{.*}} = %{{.*}} : tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
// CHECK: mesh.all_reduce sum %[[F]]#1 over {dp} {{.*}} : tensor<6xf32>
// CHECK-NOT: mesh.
// CHECK: return %[[F]]#0
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> (tensor<8x6xf32>, tensor<6xf32>) {
    %0:2 = graph.fusion (%a = %x : tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>) {
      %1 = graph.exp %a : tensor<8x6xf32>
      %2 = graph.reduce sum %1 over [0] : tensor<8x6xf32> -> tensor<6xf32>
      graph.yield %1, %2 : tensor<8x6xf32>, tensor<6xf32>
    } {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>, #mesh.sharding<[{}]>]>}
    return %0#0, %0#1 : tensor<8x6xf32>, tensor<6xf32>
  }
}

// -----

// The mask of a maximum stands right before it; what the same value gives elsewhere is not masked.
// CHECK-LABEL: func @step
// CHECK: graph.fusion
// CHECK-NEXT: %[[E:.*]] = graph.exp
// CHECK: %[[M:.*]] = graph.select %{{.*}}, %[[E]], %{{.*}}
// CHECK-NEXT: %[[R:.*]] = graph.reduce max %[[M]] over [0] : tensor<2x3xf32> -> tensor<3xf32>
// CHECK-NEXT: graph.yield %[[E]], %[[R]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> (tensor<7x3xf32>, tensor<3xf32>) {
    %0:2 = graph.fusion (%a = %x : tensor<7x3xf32>) -> (tensor<7x3xf32>, tensor<3xf32>) {
      %1 = graph.exp %a : tensor<7x3xf32>
      %2 = graph.reduce max %1 over [0] : tensor<7x3xf32> -> tensor<3xf32>
      graph.yield %1, %2 : tensor<7x3xf32>, tensor<3xf32>
    } {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>, #mesh.sharding<[{}]>]>}
    return %0#0, %0#1 : tensor<7x3xf32>, tensor<3xf32>
  }
}

// -----

// A linear group passes partial sums through.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: %[[F:.*]] = graph.fusion (%{{.*}} = %[[P]] : tensor<6xf32>) -> (tensor<6xf32>)
// CHECK: mesh.all_reduce sum %[[F]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<6xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>}
      : tensor<8x6xf32> -> tensor<6xf32>
    %1 = graph.fusion (%a = %0 : tensor<6xf32>) -> (tensor<6xf32>) {
      %2 = graph.neg %a : tensor<6xf32>
      graph.yield %2 : tensor<6xf32>
    } {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}]>]>}
    return %1 : tensor<6xf32>
  }
}

// -----

// A group that divides a dim inside splits the major part everywhere.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.fusion (%{{.*}} = %{{.*}} : tensor<4x6xf32>) -> (tensor<4x1x6xf32>)
// CHECK-NEXT: graph.exp %{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: graph.reshape %{{.*}} : tensor<4x6xf32> -> tensor<4x1x6xf32>
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x12xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}]>}) -> tensor<4x2x6xf32> {
    %0 = graph.fusion (%a = %x : tensor<4x12xf32>) -> (tensor<4x2x6xf32>) {
      %1 = graph.exp %a : tensor<4x12xf32>
      %2 = graph.reshape %1 : tensor<4x12xf32> -> tensor<4x2x6xf32>
      graph.yield %2 : tensor<4x2x6xf32>
    } {mesh.strategy = #mesh.strategy<[{}, {tp}, {}], results = [#mesh.sharding<[{}, {tp}, {}]>]>}
    return %0 : tensor<4x2x6xf32>
  }
}

// -----

// The attributes of a group stay on it, all but its strategy.
// CHECK-LABEL: func @step
// CHECK: graph.fusion
// CHECK: } {note = "kept"}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = graph.fusion (%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
      %1 = graph.exp %a : tensor<8xf32>
      graph.yield %1 : tensor<8xf32>
    } {note = "kept", mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>}
    return %0 : tensor<8xf32>
  }
}
