// On GPUs, attention and its gradient that cuDNN does not compute are kernels, on any views and without scratch.
// RUN: cleave-opt %s --cleave-bufferize | FileCheck %s

// Heads lie inside rows, as a projection writes them; nothing is copied to the kernels.
// CHECK-NOT: program.attention
// CHECK-NOT: workspace
// CHECK: program.kernel @k1_attention on 3 operands [#program.view<0 at 0 by[6, 12, 1]>, #program.view<0 at 0 by[6, 12, 1]>, #program.view<0 at 0 by[6, 12, 1]>] results [#program.view<1 at 0 by[24, 6, 1]>, #program.view<2 at 0 by[4, 1]>]
// CHECK: program.kernel @k2_attention_grad on 6
// CHECK: program.load_input early
// CHECK-NEXT: program.launch @k1_attention(%0, %1, %2)
// CHECK-NEXT: program.launch @k2_attention_grad(%0, %1, %2, %3, %4, %5) writes [3, 4, 5]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x2x6xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4x6xf32> {graph.name = "y", graph.role = "output"}, tensor<2x4x6xf32> {graph.name = "z", graph.role = "output"}) {
    %q = graph.transpose %x by [1, 0, 2] : tensor<4x2x6xf32> -> tensor<2x4x6xf32>
    %y, %lse = graph.attention %q, %q, %q {scale = 0.5 : f64, causal} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>)
    %dq, %dk, %dv = graph.attention_grad %q, %q, %q, %y, %lse, %y {scale = 0.5 : f64, causal} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
    return %y, %dk : tensor<2x4x6xf32>, tensor<2x4x6xf32>
  }
}
