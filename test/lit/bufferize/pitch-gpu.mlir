// On GPUs, rows of 16 bits that products read or give begin at multiples of 128 bytes where their length is no multiple of 16 bytes
// (cost::rowPitch). Kernel groups work in place there, and nothing is copied.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK-LABEL: program.tensor input "x" tensor<4x8xbf16>
// CHECK: program.kernel @k1_exp on 1 operands [#program.view<0 at 0 by[576, 1]>] results [#program.view<0 at 0 by[576, 1]>]
// CHECK: %[[Y:.*]] = program.buffer activation "dot_general" tensor<4x576xbf16>
// CHECK: program.matmul {{.*}} to %[[Y]] <2 at 0 by[576, 1]> {{.*}} m 4 n 515 k 8
// CHECK-NEXT: program.launch @k1_exp(%[[Y]]) writes [0]
// CHECK-NEXT: program.matmul %[[Y]] <0 at 0 by[576, 1]>, {{.*}} m 4 n 8 k 515
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x8xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<8x515xbf16> {graph.name = "w", graph.role = "input"})
      -> (tensor<4x8xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x515xbf16> -> tensor<4x515xbf16>
    %1 = graph.fusion (%a = %0 : tensor<4x515xbf16>) -> (tensor<4x515xbf16>) {
      %2 = graph.exp %a : tensor<4x515xbf16>
      graph.yield %2 : tensor<4x515xbf16>
    }
    %3 = graph.dot_general %1, %w batch [] x [] contract [1] x [1] : tensor<4x515xbf16>, tensor<8x515xbf16> -> tensor<4x8xbf16>
    return %3 : tensor<4x8xbf16>
  }
}

// -----

// Short rows, f32, and what others than products and groups read stay dense.
// CHECK-LABEL: program.tensor input "x" tensor<4x8xf32>
// CHECK: program.buffer activation "dot_general" tensor<4x515xf32>
// CHECK: program.buffer activation "dot_general" tensor<4x15xbf16>
// CHECK: program.buffer activation "dot_general" tensor<4x515xbf16>
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<8x515xf32> {graph.name = "w", graph.role = "input"},
                  %u: tensor<4x8xbf16> {graph.name = "u", graph.role = "input"}, %v: tensor<8x15xbf16> {graph.name = "v", graph.role = "input"},
                  %t: tensor<8x515xbf16> {graph.name = "t", graph.role = "input"})
      -> (tensor<4x8xf32> {graph.name = "y", graph.role = "output"}, tensor<4x8xbf16> {graph.name = "z", graph.role = "output"},
          tensor<4x515xbf16> {graph.name = "q", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x515xf32> -> tensor<4x515xf32>
    %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [1] : tensor<4x515xf32>, tensor<8x515xf32> -> tensor<4x8xf32>
    %2 = graph.dot_general %u, %v batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x15xbf16> -> tensor<4x15xbf16>
    %3 = graph.dot_general %2, %v batch [] x [] contract [1] x [1] : tensor<4x15xbf16>, tensor<8x15xbf16> -> tensor<4x8xbf16>
    %4 = graph.dot_general %u, %t batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x515xbf16> -> tensor<4x515xbf16>
    return %1, %3, %4 : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x515xbf16>
  }
}

// -----

// The first product merges the columns, the second one the contracting dims: with a pitch, it would copy its operand.
// CHECK-LABEL: program.tensor input "x" tensor<4x8xbf16>
// CHECK: program.buffer activation "dot_general" tensor<4x2x515xbf16>
// CHECK-NOT: "dense"
// CHECK: program.matmul {{.*}} m 4 n 1030 k 8
// CHECK-NEXT: program.matmul {{.*}} m 4 n 8 k 1030
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x8xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<8x2x515xbf16> {graph.name = "w", graph.role = "input"})
      -> (tensor<4x8xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x2x515xbf16> -> tensor<4x2x515xbf16>
    %1 = graph.dot_general %0, %w batch [] x [] contract [1, 2] x [1, 2] : tensor<4x2x515xbf16>, tensor<8x2x515xbf16> -> tensor<4x8xbf16>
    return %1 : tensor<4x8xbf16>
  }
}
