// On GPUs, a product adds a 16-bit bias if the only group that reads it does nothing but add this bias to each row. A small kernel
// rounds the bias; the group has no kernel, and the product writes its result.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK-LABEL: program.tensor input "x" tensor<2x4x8xbf16>
// CHECK: program.kernel @k1_cast on
// CHECK-NOT: program.kernel
// CHECK: %[[BIAS:.*]] = program.buffer input "b" tensor<2x8xf32>
// CHECK: %[[SUM:.*]] = program.buffer activation "fusion" tensor<2x4x2x8xbf16>
// CHECK: %[[ROUNDED:.*]] = program.buffer workspace "dense" tensor<2x8xbf16>
// CHECK: program.launch @k1_cast(%[[BIAS]], %[[ROUNDED]]) writes [1]
// CHECK-NEXT: program.matmul {{.*}} to %[[SUM]] <2 at 0 by[16, 1]> bias %[[ROUNDED]] workspace %{{.*}} batch [] m 8 n 16 k 8
// CHECK-NEXT: program.copy %[[SUM]]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x4x8xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<8x2x8xbf16> {graph.name = "w", graph.role = "input"},
                  %b: tensor<2x8xf32> {graph.name = "b", graph.role = "input"})
      -> (tensor<2x4x2x8xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [2] x [0] : tensor<2x4x8xbf16>, tensor<8x2x8xbf16> -> tensor<2x4x2x8xbf16>
    %1 = graph.fusion (%a = %0 : tensor<2x4x2x8xbf16>, %c = %b : tensor<2x8xf32>) -> (tensor<2x4x2x8xbf16>) {
      %2 = graph.broadcast %c to [2, 3] : tensor<2x8xf32> -> tensor<2x4x2x8xf32>
      %3 = graph.cast %2 : tensor<2x4x2x8xf32> -> tensor<2x4x2x8xbf16>
      %4 = graph.add %a, %3 : tensor<2x4x2x8xbf16>
      graph.yield %4 : tensor<2x4x2x8xbf16>
    }
    return %1 : tensor<2x4x2x8xbf16>
  }
}

// -----

// A bias of the type of the result needs no kernel. All matrices of a batch have the same one.
// CHECK-LABEL: program.tensor input "x" tensor<2x4x8xf16>
// CHECK-NOT: program.kernel
// CHECK: %[[BIAS:.*]] = program.buffer input "b" tensor<16xf16>
// CHECK: program.matmul {{.*}} <2 at 0 by[64, 16, 1]> bias %[[BIAS]] workspace %{{.*}} batch [2] m 4 n 16 k 8
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x4x8xf16> {graph.name = "x", graph.role = "input"}, %w: tensor<2x8x16xf16> {graph.name = "w", graph.role = "input"},
                  %b: tensor<16xf16> {graph.name = "b", graph.role = "input"})
      -> (tensor<2x4x16xf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [0] x [0] contract [2] x [1] : tensor<2x4x8xf16>, tensor<2x8x16xf16> -> tensor<2x4x16xf16>
    %1 = graph.fusion (%c = %b : tensor<16xf16>, %a = %0 : tensor<2x4x16xf16>) -> (tensor<2x4x16xf16>) {
      %2 = graph.broadcast %c to [2] : tensor<16xf16> -> tensor<2x4x16xf16>
      %3 = graph.add %2, %a : tensor<2x4x16xf16>
      graph.yield %3 : tensor<2x4x16xf16>
    }
    return %1 : tensor<2x4x16xf16>
  }
}

// -----

// The columns of the result are not contiguous: the product is transposed, and the group adds the bias in place.
// CHECK-LABEL: program.tensor input "x" tensor<4x8xbf16>
// CHECK: program.matmul
// CHECK-NOT: bias
// CHECK: program.launch @k1_add
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x8xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<8x16xbf16> {graph.name = "w", graph.role = "input"},
                  %b: tensor<16xbf16> {graph.name = "b", graph.role = "input"})
      -> (tensor<16x4xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xbf16>
    %1 = graph.fusion (%a = %0 : tensor<4x16xbf16>, %c = %b : tensor<16xbf16>) -> (tensor<4x16xbf16>) {
      %2 = graph.broadcast %c to [1] : tensor<16xbf16> -> tensor<4x16xbf16>
      %3 = graph.add %a, %2 : tensor<4x16xbf16>
      graph.yield %3 : tensor<4x16xbf16>
    }
    %4 = graph.transpose %1 by [1, 0] : tensor<4x16xbf16> -> tensor<16x4xbf16>
    return %4 : tensor<16x4xbf16>
  }
}
