// Which loops a group gets from its layouts and reductions, and how wide its parallel range is.
// RUN: cleave-opt %s --split-input-file --cleave-codegen-cpu | FileCheck %s

// A tensor of one element has a range of one.
// CHECK-LABEL: program.kernel @scalar
// CHECK-SAME: extent 1
// CHECK: func.func @scalar.body
// CHECK: math.exp
program.kernel @scalar on 2 operands [#program.view<0 at 0>] results [#program.view<1 at 0>] {
^bb0(%x: tensor<f32>):
  %0 = graph.fusion (%a = %x : tensor<f32>) -> (tensor<f32>) {
    %1 = graph.exp %a : tensor<f32>
    graph.yield %1 : tensor<f32>
  }
}

// -----

// Rows that do not follow each other in memory cannot be one loop: the range counts rows.
// CHECK-LABEL: program.kernel @rows_apart
// CHECK-SAME: extent 4
// CHECK: func.func @rows_apart.body
// CHECK: scf.for
// CHECK: scf.for
program.kernel @rows_apart on 2 operands [#program.view<0 at 0 by [16, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.exp %a : tensor<4x8xf32>
    graph.yield %1 : tensor<4x8xf32>
  }
}

// -----

// A dim that a broadcast operand lacks is a loop of its own.
// CHECK-LABEL: program.kernel @bias
// CHECK-SAME: extent 4
program.kernel @bias on 3 operands [#program.view<0 at 0 by [8, 1]>, #program.view<1 at 0 by [1]>]
    results [#program.view<2 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xf32>, %b: tensor<8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>, %c = %b : tensor<8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.broadcast %c to [1] : tensor<8xf32> -> tensor<4x8xf32>
    %2 = graph.add %a, %1 : tensor<4x8xf32>
    graph.yield %2 : tensor<4x8xf32>
  }
}

// -----

// A counted dim is a loop of its own too: its index is the value.
// CHECK-LABEL: program.kernel @count
// CHECK-SAME: extent 4
// CHECK: func.func @count.body
// CHECK: scf.for
// CHECK: scf.for
program.kernel @count on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0 by [8, 1]>] {
^bb0(%x: tensor<4x8xi64>):
  %0 = graph.fusion (%a = %x : tensor<4x8xi64>) -> (tensor<4x8xi64>) {
    %1 = graph.iota dim 1 : tensor<4x8xi64>
    %2 = graph.add %a, %1 : tensor<4x8xi64>
    graph.yield %2 : tensor<4x8xi64>
  }
}

// -----

// Leading dims of rows that are reduced merge into one range.
// CHECK-LABEL: program.kernel @leading
// CHECK-SAME: extent 12
program.kernel @leading on 2 operands [#program.view<0 at 0 by [32, 8, 1]>] results [#program.view<1 at 0 by [4, 1]>] {
^bb0(%x: tensor<3x4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<3x4x8xf32>) -> (tensor<3x4xf32>) {
    %1 = graph.reduce sum %a over [2] : tensor<3x4x8xf32> -> tensor<3x4xf32>
    graph.yield %1 : tensor<3x4xf32>
  }
}

// -----

// A whole tensor that is reduced has nothing to run in parallel.
// CHECK-LABEL: program.kernel @whole
// CHECK-SAME: extent 1
program.kernel @whole on 2 operands [#program.view<0 at 0 by [8, 1]>] results [#program.view<1 at 0>] {
^bb0(%x: tensor<4x8xf32>):
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<f32>) {
    %1 = graph.reduce sum %a over [0, 1] : tensor<4x8xf32> -> tensor<f32>
    graph.yield %1 : tensor<f32>
  }
}

// -----

// A sum of transposed rows is a sum over the dim that lies contiguous: the partial sums of one row are
// kept, and no columns.
// CHECK-LABEL: program.kernel @turned
// CHECK-SAME: extent 64
// CHECK: func.func @turned.body
// CHECK: llvm.alloca %c32_i64 x f32
// CHECK-NOT: llvm.alloca
// CHECK: func.func @turned(
program.kernel @turned on 2 operands [#program.view<0 at 0 by [1, 32]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<32x64xf32>):
  %0 = graph.fusion (%a = %x : tensor<32x64xf32>) -> (tensor<64xf32>) {
    %1 = graph.reduce sum %a over [0] : tensor<32x64xf32> -> tensor<64xf32>
    graph.yield %1 : tensor<64xf32>
  }
}

// -----

// Several kernels share one module, each under its name.
// CHECK-LABEL: program.kernel @first
// CHECK: module @cpu
// CHECK-DAG: func.func @first(
// CHECK-DAG: func.func @second(
program.kernel @first on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.scan sum %x dim 0 : tensor<4xf32>
}
program.kernel @second on 3 operands [#program.view<0 at 0 by [1]>]
    results [#program.view<1 at 0 by [1]>, #program.view<2 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0:2 = graph.sort %x dim 0 : tensor<4xf32>
}

// -----

// A module without kernels gets an empty module.
// CHECK-LABEL: module {
// CHECK-NEXT: module @cpu {
// CHECK-NEXT: }
module {
}
