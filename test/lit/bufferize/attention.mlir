// Attention reads and writes strided views, so that no head is copied.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// Heads lie inside rows, as a projection writes them; the result goes where rows of heads are read.
// CHECK-LABEL: module
// CHECK: program.attention
// CHECK-SAME: views [#program.view<0 at 0 by[6, 12, 1]>, #program.view<1 at 0 by[6, 12, 1]>, #program.view<2 at 0 by[6, 12, 1]>
// CHECK-SAME: batch [] heads 2 groups 2 queries 4 keys 4 width 6 depth 6 {causal, fill = 0xFFF0000000000000 : f64, scale = 5.000000e-01 : f64}
// CHECK-NOT: program.copy
// CHECK: program.attention
// CHECK-SAME: grad
module {
  func.func @step(%x: tensor<4x2x6xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4x6xf32> {graph.name = "y", graph.role = "output"}, tensor<2x4x6xf32> {graph.name = "z", graph.role = "output"}) {
    %q = graph.transpose %x by [1, 0, 2] : tensor<4x2x6xf32> -> tensor<2x4x6xf32>
    %y, %lse = graph.attention %q, %q, %q {scale = 0.5 : f64, causal} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>)
    %dq, %dk, %dv = graph.attention_grad %q, %q, %q, %y, %lse, %y {scale = 0.5 : f64, causal} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
    return %y, %dk : tensor<2x4x6xf32>, tensor<2x4x6xf32>
  }
}

// -----

// A mask that is shared by heads and queries is read with strides of 0; reversed keys are copied.
// CHECK-LABEL: module
// CHECK: program.launch
// CHECK: program.attention
// CHECK-SAME: mask
// CHECK-SAME: #program.view<1 at 0 by[12, 6, 1]>
// CHECK-SAME: #program.view<5 at 0 by[0, 0, 1]>
module {
  func.func @step(%q: tensor<2x4x6xf32> {graph.name = "q", graph.role = "input"},
                  %k: tensor<2x2x6xf32> {graph.name = "k", graph.role = "input"},
                  %m: tensor<1x1x2xi1> {graph.name = "m", graph.role = "input"})
      -> (tensor<2x4x6xf32> {graph.name = "y", graph.role = "output"}) {
    %keys = graph.reverse %k dim 1 : tensor<2x2x6xf32>
    %y, %lse = graph.attention %q, %keys, %k mask %m {scale = 0.5 : f64, safe} : (tensor<2x4x6xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<1x1x2xi1>) -> (tensor<2x4x6xf32>, tensor<2x4xf32>)
    return %y : tensor<2x4x6xf32>
  }
}
