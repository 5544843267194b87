// Partitioning op by op: what an op computes on the block of one rank.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// A transpose moves the split along with its dim.
// CHECK-LABEL: func @step
// CHECK: graph.transpose %{{.*}} by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<6x8xf32> {
    %0 = graph.transpose %x by [1, 0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}, {dp}]>]>}
      : tensor<8x6xf32> -> tensor<6x8xf32>
    return %0 : tensor<6x8xf32>
  }
}

// -----

// A reshape that divides a split dim splits its major part: heads stay on their ranks.
// CHECK-LABEL: func @step
// CHECK: graph.reshape %{{.*}} : tensor<4x6xf32> -> tensor<4x1x6xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x12xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}]>}) -> tensor<4x2x6xf32> {
    %0 = graph.reshape %x
      {mesh.strategy = #mesh.strategy<[{}, {tp}, {}], results = [#mesh.sharding<[{}, {tp}, {}]>]>}
      : tensor<4x12xf32> -> tensor<4x2x6xf32>
    return %0 : tensor<4x2x6xf32>
  }
}

// -----

// A reshape that joins dims keeps the split of the major one.
// CHECK-LABEL: func @step
// CHECK: graph.reshape %{{.*}} : tensor<2x6xf32> -> tensor<12xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<24xf32> {
    %0 = graph.reshape %x
      {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<4x6xf32> -> tensor<24xf32>
    return %0 : tensor<24xf32>
  }
}

// -----

// A broadcast to a split dim makes only the block; its operand is whole.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>
// CHECK-NEXT: graph.broadcast %[[X]] to [1] : tensor<6xf32> -> tensor<4x6xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6xf32>) -> tensor<8x6xf32> {
    %0 = graph.broadcast %x to [1]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<6xf32> -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}

// -----

// A broadcast along another dim keeps the block of its operand.
// CHECK-LABEL: func @step
// CHECK: graph.broadcast %{{.*}} to [1] : tensor<3xf32> -> tensor<8x3xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<8x6xf32> {
    %0 = graph.broadcast %x to [1]
      {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}, {dp}]>]>} : tensor<6xf32> -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}

// -----

// Slices, padding, joins and reversals along one dim are cut along another.
// CHECK-LABEL: func @step
// CHECK: graph.slice %{{.*}} dim 1 from 1 step 2 : tensor<4x6xf32> -> tensor<4x3xf32>
// CHECK-NEXT: graph.pad %{{.*}} dim 1 low 1 : tensor<4x3xf32> -> tensor<4x5xf32>
// CHECK-NEXT: graph.concat %{{.*}}, %{{.*}} dim 1 : tensor<4x3xf32>, tensor<4x5xf32> -> tensor<4x8xf32>
// CHECK-NEXT: graph.reverse %{{.*}} dim 1 : tensor<4x8xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<8x8xf32> {
    %0 = graph.slice %x dim 1 from 1 step 2
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x6xf32> -> tensor<8x3xf32>
    %1 = graph.pad %0 dim 1 low 1
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x3xf32> -> tensor<8x5xf32>
    %2 = graph.concat %0, %1 dim 1
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<8x3xf32>, tensor<8x5xf32> -> tensor<8x8xf32>
    %3 = graph.reverse %2 dim 1
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}

// -----

// A count along a split dim begins at the block of the rank.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[B:.*]] = mesh.block_offset over {dp} block 4
// CHECK-NEXT: %[[I:.*]] = graph.iota dim 0 : tensor<4x3xi64>
// CHECK-NEXT: %[[W:.*]] = graph.broadcast %[[B]] to [] : tensor<i64> -> tensor<4x3xi64>
// CHECK-NEXT: graph.add %[[I]], %[[W]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<8x3xi64> {
    %0 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x3xi64>
    return %0 : tensor<8x3xi64>
  }
}

// -----

// A count of floats begins there too.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[B:.*]] = mesh.block_offset over {dp} block 4
// CHECK-NEXT: graph.iota dim 0 : tensor<4xf32>
// CHECK-NEXT: graph.cast %[[B]] : tensor<i64> -> tensor<f32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<8xf32> {
    %0 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A count along another dim than the split one is the same on all ranks.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.block_offset
// CHECK: graph.iota dim 1 : tensor<4x3xi64>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<8x3xi64> {
    %0 = graph.iota dim 1 {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x3xi64>
    return %0 : tensor<8x3xi64>
  }
}

// -----

// The begin of a block over two axes; two counts of one block size share it.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[B:.*]] = mesh.block_offset over {dp, tp} block 2
// CHECK-NOT: mesh.block_offset
// CHECK: graph.broadcast %[[B]] {{.*}} -> tensor<2xi64>
// CHECK: graph.broadcast %[[B]] {{.*}} -> tensor<2x3xi64>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step() -> (tensor<8xi64>, tensor<7x3xi64>) {
    %0 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{dp, tp}], results = [#mesh.sharding<[{dp, tp}]>]>} : tensor<8xi64>
    %1 = graph.iota dim 0
      {mesh.strategy = #mesh.strategy<[{dp, tp}, {}], results = [#mesh.sharding<[{dp, tp}, {}]>]>} : tensor<7x3xi64>
    return %0, %1 : tensor<8xi64>, tensor<7x3xi64>
  }
}

// -----

// Blocks of other sizes or axes begin elsewhere.
// CHECK-LABEL: func @step
// CHECK-DAG: mesh.block_offset over {dp} block 4
// CHECK-DAG: mesh.block_offset over {dp} block 3
// CHECK-DAG: mesh.block_offset over {tp} block 4
// CHECK: graph.iota
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step() -> (tensor<8xi64>, tensor<6xi64>, tensor<8xi64>) {
    %0 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xi64>
    %1 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<6xi64>
    %2 = graph.iota dim 0 {mesh.strategy = #mesh.strategy<[{tp}], results = [#mesh.sharding<[{tp}]>]>} : tensor<8xi64>
    return %0, %1, %2 : tensor<8xi64>, tensor<6xi64>, tensor<8xi64>
  }
}

// -----

// A constant with equal elements shrinks to the block.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.constant dense<2.000000e+00> : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<8xf32> {
    %0 = graph.constant {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} dense<2.0> : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A constant with different elements is whole on all ranks, and its readers take slices.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: mesh.slice %[[C]] dim 0 over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() -> tensor<2xf32> {
    %0 = graph.constant {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{dp}]>]>} dense<[1.0, 2.0]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// A lookup by a block of the indices needs nothing but the whole table.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{all|block}}
// CHECK: graph.gather %{{.*}} at %{{.*}} dim 0 : tensor<10x3xf32>, tensor<2xi64> -> tensor<2x3xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%t: tensor<10x3xf32>, %i: tensor<4xi64> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<4x3xf32> {
    %0 = graph.gather %t at %i dim 0
      {mesh.strategy = #mesh.strategy<[{}, {dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<10x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}

// -----

// A lookup in the columns of a table gives columns.
// CHECK-LABEL: func @step
// CHECK-NOT: mesh.{{all|block}}
// CHECK: graph.gather %{{.*}} at %{{.*}} dim 0 : tensor<10x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%t: tensor<10x6xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}]>}, %i: tensor<4xi64>) -> tensor<4x6xf32> {
    %0 = graph.gather %t at %i dim 0
      {mesh.strategy = #mesh.strategy<[{}, {}, {tp}], results = [#mesh.sharding<[{}, {tp}]>]>}
      : tensor<10x6xf32>, tensor<4xi64> -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}

// -----

// Small unsigned indices are widened before the begin of the block is subtracted.
// CHECK-LABEL: func @step
// CHECK: %[[B:.*]] = mesh.block_offset over {tp} block 5
// CHECK-NEXT: %[[W:.*]] = graph.cast %{{.*}} : tensor<4xui8> -> tensor<4xi64>
// CHECK-NEXT: %[[O:.*]] = graph.broadcast %[[B]]
// CHECK-NEXT: %[[R:.*]] = graph.sub %[[W]], %[[O]] : tensor<4xi64>
// CHECK-NEXT: graph.gather %{{.*}} at %[[R]]
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%t: tensor<10x3xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}, %i: tensor<4xui8>) -> tensor<4x3xf32> {
    %0 = graph.gather %t at %i dim 0
      {mesh.strategy = #mesh.strategy<[{tp}, {}, {}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<10x3xf32>, tensor<4xui8> -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}

// -----

// Every rank scatters its rows into a whole table, and the tables are summed.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[T:.*]] = graph.scatter sum %{{.*}} at %{{.*}} dim 0 : tensor<2x3xf32>, tensor<2xi64> -> tensor<10x3xf32>
// CHECK-NEXT: mesh.all_reduce sum %[[T]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%u: tensor<4x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %i: tensor<4xi64> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<10x3xf32> {
    %0 = graph.scatter sum %u at %i dim 0
      {mesh.strategy = #mesh.strategy<[{}, {dp}, {}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<4x3xf32>, tensor<4xi64> -> tensor<10x3xf32>
    return %0 : tensor<10x3xf32>
  }
}

// -----

// A scatter into a block of the table keeps the rows that belong there.
// CHECK-LABEL: func @step
// CHECK: %[[B:.*]] = mesh.block_offset over {tp} block 5
// CHECK-NEXT: graph.broadcast %[[B]]
// CHECK-NEXT: %[[R:.*]] = graph.sub
// CHECK-NEXT: graph.scatter sum %{{.*}} at %[[R]] dim 0 : tensor<4x3xf32>, tensor<4xi64> -> tensor<5x3xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%u: tensor<4x3xf32>, %i: tensor<4xi64>) -> tensor<10x3xf32> {
    %0 = graph.scatter sum %u at %i dim 0
      {mesh.strategy = #mesh.strategy<[{tp}, {}, {}], results = [#mesh.sharding<[{tp}, {}]>]>}
      : tensor<4x3xf32>, tensor<4xi64> -> tensor<10x3xf32>
    return %0 : tensor<10x3xf32>
  }
}

// -----

// Scans and sorting along one dim are cut along the others.
// CHECK-LABEL: func @step
// CHECK: graph.scan sum %{{.*}} dim 1 : tensor<4x6xf32>
// CHECK-NEXT: graph.sort %{{.*}} dim 1{{.*}} tensor<4x6xf32>
// CHECK-NEXT: return {{.*}} : tensor<4x6xf32>, tensor<4x6xi64>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> (tensor<8x6xf32>, tensor<8x6xi64>) {
    %0 = graph.scan sum %x dim 1
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<8x6xf32>
    %1:2 = graph.sort %0 dim 1
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>, #mesh.sharding<[{dp}, {}]>]>}
      : tensor<8x6xf32>
    return %1#0, %1#1 : tensor<8x6xf32>, tensor<8x6xi64>
  }
}

// -----

// The batches of a product are independent.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.dot_general %{{.*}} batch [0] x [0] contract [2] x [1] : tensor<2x3x5xf32>, tensor<2x5x6xf32> -> tensor<2x3x6xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x3x5xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}, {}]>},
                  %y: tensor<4x5x6xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}, {}]>}) -> tensor<4x3x6xf32> {
    %0 = graph.dot_general %x, %y batch [0] x [0] contract [2] x [1]
      {mesh.strategy = #mesh.strategy<[{tp}, {}, {}, {}], results = [#mesh.sharding<[{tp}, {}, {}]>]>}
      : tensor<4x3x5xf32>, tensor<4x5x6xf32> -> tensor<4x3x6xf32>
    return %0 : tensor<4x3x6xf32>
  }
}

// -----

// Rows along one axis and the contracted dim along another: a sum of blocks along the second.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[P:.*]] = graph.dot_general %{{.*}} : tensor<2x3xf32>, tensor<3x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT: mesh.all_reduce sum %[[P]] over {tp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<4x6xf32> {mesh.sharding = #mesh.sharding<[{dp}, {tp}]>},
                  %w: tensor<6x5xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}) -> tensor<4x5xf32> {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {tp}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
}

// -----

// A convolution over a block of the input channels is a sum over the ranks.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[P:.*]] = graph.conv {{.*}} : tensor<2x2x8xf32>, tensor<4x2x3xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT: mesh.all_reduce sum %[[P]] over {tp}
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<2x4x8xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}, {}]>},
                  %w: tensor<4x4x3xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}, {}]>}) -> tensor<2x4x8xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>,
        pads_high = array<i64: 1>, groups = 1 : i64,
        mesh.strategy = #mesh.strategy<[{}, {}, {tp}, {}, {}, {}], results = [#mesh.sharding<[{}, {}, {}]>]>}
      : tensor<2x4x8xf32>, tensor<4x4x3xf32> -> tensor<2x4x8xf32>
    return %0 : tensor<2x4x8xf32>
  }
}

// -----

// The gradient of a convolution's weight is a sum over images.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[P:.*]] = graph.conv_weight_grad {{.*}} : tensor<1x4x8xf32>, tensor<1x3x8xf32> -> tensor<4x3x3xf32>
// CHECK-NEXT: mesh.all_reduce sum %[[P]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%dy: tensor<2x4x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}, {}]>},
                  %x: tensor<2x3x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}, {}]>}) -> tensor<4x3x3xf32> {
    %0 = graph.conv_weight_grad %dy, %x {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>,
        pads_high = array<i64: 1>, groups = 1 : i64,
        mesh.strategy = #mesh.strategy<[{dp}, {}, {}, {}, {}, {}], results = [#mesh.sharding<[{}, {}, {}]>]>}
      : tensor<2x4x8xf32>, tensor<2x3x8xf32> -> tensor<4x3x3xf32>
    return %0 : tensor<4x3x3xf32>
  }
}

// -----

// Pooling is cut along images and channels.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.pool max {{.*}} : tensor<1x2x8xf32> -> tensor<1x2x4xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<2x4x8xf32> {mesh.sharding = #mesh.sharding<[{dp}, {tp}, {}]>}) -> tensor<2x4x4xf32> {
    %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
        pads_low = array<i64: 0>, pads_high = array<i64: 0>,
        mesh.strategy = #mesh.strategy<[{dp}, {tp}, {}, {}], results = [#mesh.sharding<[{dp}, {tp}, {}]>]>}
      : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
    return %0 : tensor<2x4x4xf32>
  }
}

// -----

// A sum over micro-batches takes partial sums; the ranks' sum is made once, at the end.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: %[[A:.*]] = graph.accumulate %[[P]] count 2
// CHECK-NEXT: mesh.all_reduce sum %[[A]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<4xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>}
      : tensor<8x4xf32> -> tensor<4xf32>
    %1 = graph.accumulate %0 count 2
      {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}]>]>} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
