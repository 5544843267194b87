// Dims that are split into uneven blocks: where their padding is masked, and where it may stay.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// Before a sum, the elements at or beyond the end of the whole dim become 0.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32> {
// CHECK: %[[B:.*]] = mesh.block_offset over {dp} block 2
// CHECK-NEXT: %[[I:.*]] = graph.iota dim 0 : tensor<2x3xi64>
// CHECK-NEXT: %[[O:.*]] = graph.broadcast %[[B]]
// CHECK-NEXT: %[[P:.*]] = graph.add %[[I]], %[[O]]
// CHECK-NEXT: %[[N:.*]] = graph.constant dense<7> : tensor<i64>
// CHECK-NEXT: %[[E:.*]] = graph.broadcast %[[N]]
// CHECK-NEXT: %[[C:.*]] = graph.compare lt %[[P]], %[[E]]
// CHECK-NEXT: graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[Z:.*]] = graph.broadcast
// CHECK-NEXT: %[[M:.*]] = graph.select %[[C]], %[[X]], %[[Z]]
// CHECK-NEXT: graph.reduce sum %[[M]]
// CHECK-NEXT: mesh.all_reduce sum
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<3xf32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>} : tensor<7x3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

// Before a minimum, they become infinite.
// CHECK-LABEL: func @step
// CHECK: graph.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: %[[F:.*]] = graph.broadcast
// CHECK-NEXT: graph.select %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: graph.reduce min
// CHECK-NEXT: mesh.all_reduce min
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<f32> {
    %0 = graph.reduce min %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<7xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Before a maximum of integers, they become the smallest integer.
// CHECK-LABEL: func @step
// CHECK: graph.constant dense<-2147483648> : tensor<i32>
// CHECK-NEXT: %[[F:.*]] = graph.broadcast
// CHECK-NEXT: graph.select %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: graph.reduce max
// CHECK-NEXT: mesh.all_reduce max
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xi32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<i32> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<7xi32> -> tensor<i32>
    return %0 : tensor<i32>
  }
}

// -----

// Before a minimum of integers without a sign, they become the largest one.
// CHECK-LABEL: func @step
// CHECK: graph.constant dense<255> : tensor<ui8>
// CHECK-NEXT: %[[F:.*]] = graph.broadcast
// CHECK-NEXT: graph.select %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: graph.reduce min
// CHECK-NEXT: mesh.all_reduce min
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xui8> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<ui8> {
    %0 = graph.reduce min %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<7xui8> -> tensor<ui8>
    return %0 : tensor<ui8>
  }
}

// -----

// Whether any truth value holds: false beyond the end.
// CHECK-LABEL: func @step
// CHECK: graph.constant dense<false> : tensor<i1>
// CHECK-NEXT: %[[F:.*]] = graph.broadcast
// CHECK-NEXT: graph.select %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: graph.reduce max
// CHECK-NEXT: mesh.all_reduce max
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xi1> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<i1> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<7xi1> -> tensor<i1>
    return %0 : tensor<i1>
  }
}

// -----

// Whether all truth values hold: true beyond the end.
// CHECK-LABEL: func @step
// CHECK: graph.constant dense<true> : tensor<i1>
// CHECK-NEXT: %[[F:.*]] = graph.broadcast
// CHECK-NEXT: graph.select %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: graph.reduce min
// CHECK-NEXT: mesh.all_reduce min
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xi1> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<i1> {
    %0 = graph.reduce min %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<7xi1> -> tensor<i1>
    return %0 : tensor<i1>
  }
}

// -----

// Even blocks have no padding to mask.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.reduce max
// CHECK-NEXT: mesh.all_reduce max
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<f32> {
    %0 = graph.reduce max %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<8xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// A reduction over another dim keeps the padding in its result, where it does no harm.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.reduce max %{{.*}} over [1] : tensor<2x3xf32> -> tensor<2xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<7xf32> {
    %0 = graph.reduce max %x over [1]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}]>]>} : tensor<7x3xf32> -> tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// Pointwise ops compute on the padding like on all else.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.log %{{.*}} : tensor<2xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<7xf32> {
    %0 = graph.log %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// Both operands of a product are masked along the contracted dim: 0 times undefined is undefined.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32> {{{.*}}}, %[[W:.*]]: tensor<2x5xf32> {{{.*}}}) ->
// CHECK: %[[B:.*]] = mesh.block_offset over {tp} block 2
// CHECK-NOT: mesh.block_offset
// CHECK: graph.iota dim 1 : tensor<4x2xi64>
// CHECK: %[[L:.*]] = graph.select %{{.*}}, %[[X]], %{{.*}}
// CHECK: graph.iota dim 0 : tensor<2x5xi64>
// CHECK: %[[R:.*]] = graph.select %{{.*}}, %[[W]], %{{.*}}
// CHECK: graph.dot_general %[[L]], %[[R]]
// CHECK-NEXT: mesh.all_reduce sum
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x3xf32> {mesh.sharding = #mesh.sharding<[{}, {tp}]>},
                  %w: tensor<3x5xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}) -> tensor<4x5xf32> {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{}, {}, {tp}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<4x3xf32>, tensor<3x5xf32> -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
}

// -----

// Both factors of a sum are masked, also if it is stored in another type than theirs.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xbf16> {{{.*}}}, %[[W:.*]]: tensor<2x5xbf16> {
// CHECK-DAG: %[[MX:.*]] = graph.select %{{.*}}, %[[X]], %{{.*}}
// CHECK-DAG: %[[MW:.*]] = graph.select %{{.*}}, %[[W]], %{{.*}}
// CHECK: graph.dot_general %[[MX]], %[[MW]] {{.*}} -> tensor<4x5xf32>
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%x: tensor<4x3xbf16> {mesh.sharding = #mesh.sharding<[{}, {tp}]>},
                  %w: tensor<3x5xbf16> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}) -> tensor<4x5xf32> {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{}, {}, {tp}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<4x3xbf16>, tensor<3x5xbf16> -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
}

// -----

// Rows of a product that are padding stay in their rows.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.dot_general %{{.*}} : tensor<2x4xf32>, tensor<4x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<3x4xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>}, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}, {}], results = [#mesh.sharding<[{dp}, {}]>]>}
      : tensor<3x4xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}

// -----

// Two reduced dims with uneven blocks are masked one after the other.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32>
// CHECK-DAG: mesh.block_offset over {dp} block 4
// CHECK-DAG: mesh.block_offset over {tp} block 2
// CHECK: graph.iota dim 0
// CHECK: %[[A:.*]] = graph.select %{{.*}}, %[[X]], %{{.*}}
// CHECK: graph.iota dim 1
// CHECK: %[[B:.*]] = graph.select %{{.*}}, %[[A]], %{{.*}}
// CHECK-NEXT: graph.reduce sum %[[B]]
// CHECK-NEXT: mesh.all_reduce sum %{{.*}} over {dp, tp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<7x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {tp}]>}) -> tensor<f32> {
    %0 = graph.reduce sum %x over [0, 1]
      {mesh.strategy = #mesh.strategy<[{dp}, {tp}], results = [#mesh.sharding<[]>]>} : tensor<7x3xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Padding rows of a table are never looked up; the table is masked like the operand of any sum.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[T:.*]]: tensor<5x3xf32> {{{.*}}}, %[[I:.*]]: tensor<4xi64> {
// CHECK: %[[M:.*]] = graph.select %{{.*}}, %[[T]], %{{.*}}
// CHECK-NOT: graph.select
// CHECK: %[[R:.*]] = graph.sub %[[I]]
// CHECK: graph.gather %[[M]] at %[[R]]
module attributes {mesh.mesh = #mesh.mesh<[tp = 2]>} {
  func.func @step(%t: tensor<9x3xf32> {mesh.sharding = #mesh.sharding<[{tp}, {}]>}, %i: tensor<4xi64>) -> tensor<4x3xf32> {
    %0 = graph.gather %t at %i dim 0
      {mesh.strategy = #mesh.strategy<[{tp}, {}, {}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<9x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}

// -----

// Of rows and indices that are scattered, the rows are masked: an index in the padding adds 0.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[U:.*]]: tensor<2x3xf32> {{{.*}}}, %[[I:.*]]: tensor<2xi64> {
// CHECK: %[[M:.*]] = graph.select %{{.*}}, %[[U]], %{{.*}}
// CHECK-NEXT: graph.scatter sum %[[M]] at %[[I]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%u: tensor<3x3xf32> {mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %i: tensor<3xi64> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<10x3xf32> {
    %0 = graph.scatter sum %u at %i dim 0
      {mesh.strategy = #mesh.strategy<[{}, {dp}, {}], results = [#mesh.sharding<[{}, {}]>]>}
      : tensor<3x3xf32>, tensor<3xi64> -> tensor<10x3xf32>
    return %0 : tensor<10x3xf32>
  }
}

// -----

// Five elements on four ranks: the last rank has padding only, and adds nothing.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<2xf32> {mesh.global = tensor<5xf32>
// CHECK: mesh.block_offset over {dp} block 2
// CHECK: graph.constant dense<5> : tensor<i64>
// CHECK: graph.reduce sum
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<5xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<f32> {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[]>]>} : tensor<5xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// A reshape that only adds dims of one element may split an uneven dim.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.reshape %{{.*}} : tensor<2xf32> -> tensor<2x1xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<7xf32> {mesh.sharding = #mesh.sharding<[{dp}]>}) -> tensor<7x1xf32> {
    %0 = graph.reshape %x
      {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{dp}, {}]>]>} : tensor<7xf32> -> tensor<7x1xf32>
    return %0 : tensor<7x1xf32>
  }
}
