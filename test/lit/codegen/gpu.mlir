// Kernels for GPUs: how threads share the loops of a group.
// RUN: cleave-opt %s --split-input-file --cleave-codegen-gpu | FileCheck %s

// Pointwise: 4 elements of 4 bytes at a time, in a loop with the stride of the grid.
// CHECK: module @gpu
// CHECK: func.func @scale(%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr) attributes {launch = array<i64: 1, 256, 0>}
// CHECK: %[[END:.*]] = arith.constant 8 : i64
// CHECK: scf.for %{{.*}} to %[[END]] step
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
program.kernel @scale on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.add %a, %a : tensor<4x8xf32>
    graph.yield %1 : tensor<4x8xf32>
  }
}

// -----

// Rows of 4096: a block of 256 threads for each, that exchange one number per warp at one barrier.
// CHECK: llvm.mlir.global internal @rows_shared0() {addr_space = 3 : i32, {{.*}} : !llvm.array<8 x f32>
// CHECK: func.func @rows({{.*}}launch = array<i64: 4, 256, 32>
// CHECK-COUNT-5: llvm.nvvm.shfl.sync.bfly.i32
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.nvvm.barrier.cta.sync.aligned.all
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-COUNT-3: llvm.nvvm.shfl.sync.bfly.i32
// CHECK-NOT: barrier
program.kernel @rows on 2 operands [#program.view<0 at 0 by [4096, 1]>] results [#program.view<1 at 0 by [4096, 1]>] {
^bb0(%x: tensor<4x4096xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x4096xf32>) -> (tensor<4x4096xf32>) {
    %1 = graph.reduce sum %a over [1] : tensor<4x4096xf32> -> tensor<4xf32>
    %2 = graph.broadcast %1 to [0] : tensor<4xf32> -> tensor<4x4096xf32>
    %3 = graph.sub %a, %2 : tensor<4x4096xf32>
    graph.yield %3 : tensor<4x4096xf32>
  }
}

// -----

// Columns: 16 warps take turns at the rows, 3 times 32 columns of them.
// CHECK: func.func @columns({{.*}}launch = array<i64: 3, 512, 2048>
// CHECK: scf.for
// CHECK: llvm.nvvm.barrier.cta.sync.aligned.all
program.kernel @columns on 2 operands [#program.view<0 at 0 by [96, 1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<1000x96xf32>):
  %0 = graph.fusion (%a = %x : tensor<1000x96xf32>) -> (tensor<96xf32>) {
    %1 = graph.reduce sum %a over [0] : tensor<1000x96xf32> -> tensor<96xf32>
    graph.yield %1 : tensor<96xf32>
  }
}
