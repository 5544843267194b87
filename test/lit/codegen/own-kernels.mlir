// Ops with a kernel of their own: the parallel range of each, and what its loops do.
// RUN: cleave-opt %s --split-input-file --cleave-codegen-cpu | FileCheck %s

// A lookup runs over its result's rows.
// CHECK-LABEL: program.kernel @lookup
// CHECK-SAME: extent 3
program.kernel @lookup on 3 operands [#program.view<0 at 0 by [2, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [2, 1]>] {
^bb0(%t: tensor<5x2xf32>, %i: tensor<3xi64>):
  %0 = graph.gather %t at %i dim 0 : tensor<5x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
}

// -----

// A lookup in a table without rows stores zeros and reads nothing.
// CHECK-LABEL: program.kernel @no_rows
// CHECK: func.func @no_rows.body
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: llvm.store %[[ZERO]]
// CHECK-NOT: llvm.load {{.*}} -> f32
// CHECK: func.func @no_rows(
program.kernel @no_rows on 3 operands [#program.view<0 at 0 by [2, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [2, 1]>] {
^bb0(%t: tensor<0x2xf32>, %i: tensor<3xi64>):
  %0 = graph.gather %t at %i dim 0 : tensor<0x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
}

// -----

// A scatter runs over the rows of its result, so that two parts never add to one row.
// CHECK-LABEL: program.kernel @few_blocks
// CHECK-SAME: extent 64
program.kernel @few_blocks on 3 operands [#program.view<0 at 0 by [2, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [2, 1]>] {
^bb0(%u: tensor<3x2xf32>, %i: tensor<3xi64>):
  %0 = graph.scatter sum %u at %i dim 0 : tensor<3x2xf32>, tensor<3xi64> -> tensor<64x2xf32>
}

// -----

// With sixteen blocks before the rows, it runs over the blocks.
// CHECK-LABEL: program.kernel @many_blocks
// CHECK-SAME: extent 16
program.kernel @many_blocks on 3 operands [#program.view<0 at 0 by [3, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [64, 1]>] {
^bb0(%u: tensor<16x3xf32>, %i: tensor<3xi64>):
  %0 = graph.scatter sum %u at %i dim 1 : tensor<16x3xf32>, tensor<3xi64> -> tensor<16x64xf32>
}

// -----

// Narrow unsigned indices are widened without a sign.
// CHECK-LABEL: program.kernel @narrow
// CHECK: func.func @narrow.body
// CHECK: llvm.load {{.*}} -> i8
// CHECK: arith.extui {{.*}} : i8 to i64
program.kernel @narrow on 3 operands [#program.view<0 at 0 by [2, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [2, 1]>] {
^bb0(%t: tensor<5x2xf32>, %i: tensor<3xui8>):
  %0 = graph.gather %t at %i dim 0 : tensor<5x2xf32>, tensor<3xui8> -> tensor<3x2xf32>
}

// -----

// A scan runs over the lines along its dim.
// CHECK-LABEL: program.kernel @scan
// CHECK-SAME: extent 8
program.kernel @scan on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.scan sum %x dim 0 : tensor<4x8xf32>
}

// -----

// A slice of a rank reads the coordinate of its axis from the last buffer.
// CHECK-LABEL: program.kernel @block
// CHECK: func.func @block.body(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[C:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.getelementptr inbounds %[[C]]
// CHECK: llvm.load {{.*}} -> i64
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  program.kernel @block on 3 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
  ^bb0(%x: tensor<8xf32>):
    %0 = mesh.slice %x dim 0 over {tp} : tensor<8xf32> -> tensor<4xf32>
  }
}

// -----

// A block that reaches beyond the end repeats the last element there: the read stays in bounds.
// CHECK-LABEL: program.kernel @uneven
// CHECK: func.func @uneven.body
// CHECK: %[[LAST:.*]] = arith.constant 6 : i64
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.kernel @uneven on 3 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
  ^bb0(%x: tensor<7xf32>):
    %0 = mesh.slice %x dim 0 over {dp} : tensor<7xf32> -> tensor<4xf32>
  }
}

// -----

// The begin of a block over two axes: the first axis counts in steps of the second one's ranks.
// CHECK-LABEL: program.kernel @begin
// CHECK-SAME: extent 1
// CHECK: func.func @begin.body
// CHECK: llvm.load
// CHECK: %[[RANKS:.*]] = arith.constant 4 : i64
// CHECK: %[[MAJOR:.*]] = arith.muli %{{.*}}, %[[RANKS]]
// CHECK: arith.addi %[[MAJOR]], %{{.*}}
// CHECK: %[[BLOCK:.*]] = arith.constant 3 : i64
// CHECK: arith.muli %{{.*}}, %[[BLOCK]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  program.kernel @begin on 2 operands [] results [#program.view<0 at 0>] {
    %0 = mesh.block_offset over {dp, tp} block 3 : tensor<i64>
  }
}
