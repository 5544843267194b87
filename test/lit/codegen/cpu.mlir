// Loops of kernels: the three shapes of nest, and what is no group.
// RUN: cleave-opt %s --split-input-file --cleave-codegen-cpu | FileCheck %s

// Pointwise, all dims contiguous: one loop over the parallel range, nothing inside.
// CHECK: program.kernel @scale on 2 {{.*}} extent 32
// CHECK: module @cpu
// CHECK: func.func @scale.body(%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[FROM:.*]]: i64, %[[TO:.*]]: i64)
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
// CHECK-NOT: scf.for
// CHECK: arith.addf
// CHECK: llvm.store
// CHECK: func.func @scale(
// CHECK: call @scale.body
program.kernel @scale on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.add %a, %a : tensor<4x8xf32>
    graph.yield %1 : tensor<4x8xf32>
  }
}

// -----

// Rows: for every row one pass that sums and one that uses the sum. Eight partial sums, of which the
// upper half is added to the lower one until one is left.
// CHECK: program.kernel @rows on 2 {{.*}} extent 4
// CHECK: func.func @rows.body
// CHECK: %[[PARTIAL:.*]] = llvm.alloca %c8_i64 x f32
// CHECK: scf.for
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %c4_i64
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %c2_i64
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %c1_i64
// CHECK: arith.addf
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: scf.for
// CHECK: arith.divf %{{.*}}, %[[SUM]]
program.kernel @rows on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.reduce sum %a over [1] : tensor<4x8xf32> -> tensor<4xf32>
    %2 = graph.broadcast %1 to [0] : tensor<4xf32> -> tensor<4x8xf32>
    %3 = graph.div %a, %2 : tensor<4x8xf32>
    graph.yield %3 : tensor<4x8xf32>
  }
}

// -----

// Columns: accumulators for a range of columns; the parallel range counts units of 16.
// CHECK: program.kernel @columns on 2 {{.*}} extent 4
// CHECK: func.func @columns.body
// CHECK: llvm.alloca
program.kernel @columns on 2 operands [#program.view<0 at 0 by [64, 1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<32x64xf32>):
  %0 = graph.fusion (%a = %x : tensor<32x64xf32>) -> (tensor<64xf32>) {
    %1 = graph.reduce sum %a over [0] : tensor<32x64xf32> -> tensor<64xf32>
    graph.yield %1 : tensor<64xf32>
  }
}

// -----

// A gather looks at the index before it reads the table.
// CHECK: func.func @rows_of.body
// CHECK: arith.cmpi
// CHECK: func.func @rows_of(
program.kernel @rows_of on 3 operands [#program.view<0 at 0 by [2, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [2, 1]>] {
^bb0(%t: tensor<5x2xf32>, %i: tensor<3xi64>):
  %0 = graph.gather %t at %i dim 0 : tensor<5x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
}
