// Zigzag: the second halves of blocks of queries are exchanged with the mirrored rank.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-shard-partition | FileCheck %s

// Two halves of 2 rows: half 2r of rank r, and half 2 * 3 - 1 - 2r of the mirrored rank, which begins
// at 12 - 2 - 4r. No other op of the step has another layout.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x4x8xf32>
// CHECK: %[[OWN:.*]] = mesh.block_offset over {cp} block 4
// CHECK: %[[K:.*]] = mesh.all_gather %{{.*}} dim 2 over {cp}
// CHECK: %[[FIRST:.*]] = graph.slice %[[Q]] dim 2 from 0 step 1 : tensor<2x4x4x8xf32> -> tensor<2x4x2x8xf32>
// CHECK: %[[SECOND:.*]] = graph.slice %[[Q]] dim 2 from 2 step 1
// CHECK: %[[OTHER:.*]] = mesh.permute %[[SECOND]] over {cp} to {cp} reversed {mesh.part = "forward"} : tensor<2x4x2x8xf32>
// CHECK: %[[Y0:.*]], %{{.*}} = graph.attention %[[FIRST]], %[[K]], %[[K]] at %[[OWN]] {causal, graph.mirrored, offset_dims = array<i64: 2>, scale = 1.000000e+00 : f64, whole = array<i64: 2, 4, 12, 12>}
// CHECK: %[[TEN:.*]] = graph.constant dense<10>
// CHECK: %[[BEGIN:.*]] = graph.sub %[[TEN]], %[[OWN]]
// CHECK: %[[Y1:.*]], %{{.*}} = graph.attention %[[OTHER]], %[[K]], %[[K]] at %[[BEGIN]]
// CHECK: %[[BACK:.*]] = mesh.permute %[[Y1]] over {cp} to {cp} reversed
// CHECK: graph.concat %[[Y0]], %[[BACK]] dim 2
module attributes {mesh.mesh = #mesh.mesh<[cp = 3]>} {
  func.func @step(%q: tensor<2x4x12x8xf32> {graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {cp}, {}]>},
                  %k: tensor<2x2x12x8xf32> {graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {cp}, {}]>})
      -> (tensor<2x4x12x8xf32> {graph.role = "output", mesh.sharding = #mesh.sharding<[{}, {}, {cp}, {}]>}) {
    %y, %lse = graph.attention %q, %k, %k {causal, scale = 1.0 : f64, mesh.zigzag,
      mesh.strategy = #mesh.strategy<[{}, {}, {}, {cp}, {}, {}, {}], results = [#mesh.sharding<[{}, {}, {cp}, {}]>, #mesh.sharding<[{}, {}, {cp}]>]>}
      : (tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>) -> (tensor<2x4x12x8xf32>, tensor<2x4x12xf32>)
    return %y : tensor<2x4x12x8xf32>
  }
}

// -----
// A block of 3 queries has no halves.
module attributes {mesh.mesh = #mesh.mesh<[cp = 4]>} {
  func.func @step(%q: tensor<2x4x12x8xf32> {graph.role = "input"}) -> tensor<2x4x12x8xf32> {
    // expected-error @below {{has mesh.zigzag, but is not a causal attention with as many queries as keys, whose queries are split into equal blocks of an even size}}
    %y, %lse = graph.attention %q, %q, %q {causal, scale = 1.0 : f64, mesh.zigzag,
      mesh.strategy = #mesh.strategy<[{}, {}, {cp}, {}, {}, {}], results = [#mesh.sharding<[{}, {}, {cp}, {}]>, #mesh.sharding<[{}, {}, {cp}]>]>}
      : (tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>) -> (tensor<2x4x12x8xf32>, tensor<2x4x12xf32>)
    return %y : tensor<2x4x12x8xf32>
  }
}

// -----
// Without a causal mask all blocks have as many keys.
module attributes {mesh.mesh = #mesh.mesh<[cp = 2]>} {
  func.func @step(%q: tensor<2x4x12x8xf32> {graph.role = "input"}) -> tensor<2x4x12x8xf32> {
    // expected-error @below {{has mesh.zigzag, but is not a causal attention}}
    %y, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64, mesh.zigzag,
      mesh.strategy = #mesh.strategy<[{}, {}, {cp}, {}, {}, {}], results = [#mesh.sharding<[{}, {}, {cp}, {}]>, #mesh.sharding<[{}, {}, {cp}]>]>}
      : (tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>) -> (tensor<2x4x12x8xf32>, tensor<2x4x12xf32>)
    return %y : tensor<2x4x12x8xf32>
  }
}
