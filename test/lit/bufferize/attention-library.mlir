// On GPUs, attention of 16-bit floats and its gradient are instructions with a workspace for cuDNN.
// RUN: cleave-opt %s --cleave-bufferize --split-input-file | FileCheck %s

// They read views of a fused projection. The second workspace has 8 numbers in f32, rounded up to 256 bytes, 128 x 128 scores of 2 heads
// in bf16, and 64 KiB.
// CHECK-LABEL: program.tensor input "x" tensor<4x48xbf16>
// CHECK-NOT: program.kernel
// CHECK: %[[FORWARD:.*]] = program.buffer workspace "workspace" tensor<65536xi8>
// CHECK: %[[GRADIENT:.*]] = program.buffer workspace "workspace" tensor<131328xi8>
// CHECK: program.load_input
// CHECK-NEXT: program.attention %0, %0, %0, %1, %2 workspace %[[FORWARD]] views [#program.view<0 at 0 by[8, 48, 1]>, #program.view<1 at 16 by[8, 48, 1]>, #program.view<2 at 32 by[8, 48, 1]>, #program.view<3 at 0 by[32, 8, 1]>, #program.view<4 at 0 by[4, 1]>]
// CHECK-NEXT: program.attention {{.*}} grad %1 to {{.*}} workspace %[[GRADIENT]] views
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x48xbf16> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4x8xbf16> {graph.name = "y", graph.role = "output"}, tensor<2x4x8xbf16> {graph.name = "z", graph.role = "output"}) {
    %q0 = graph.slice %x dim 1 from 0 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %q1 = graph.reshape %q0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %q = graph.transpose %q1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %k0 = graph.slice %x dim 1 from 16 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %k1 = graph.reshape %k0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %k = graph.transpose %k1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %v0 = graph.slice %x dim 1 from 32 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %v1 = graph.reshape %v0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %v = graph.transpose %v1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %y, %lse = graph.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
    %dq, %dk, %dv = graph.attention_grad %q, %k, %v, %y, %lse, %y {scale = 0.5 : f64, causal} : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4xf32>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>)
    return %y, %dk : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>
  }
}

// -----

// Marked ops are kernels.
// CHECK-LABEL: program.tensor input "x" tensor<4x48xbf16>
// CHECK-NOT: program.attention
// CHECK: program.launch @k1_attention(
// CHECK-NEXT: program.launch @k2_attention_grad(
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x48xbf16> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4x8xbf16> {graph.name = "y", graph.role = "output"}, tensor<2x4x8xbf16> {graph.name = "z", graph.role = "output"}) {
    %q0 = graph.slice %x dim 1 from 0 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %q1 = graph.reshape %q0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %q = graph.transpose %q1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %k0 = graph.slice %x dim 1 from 16 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %k1 = graph.reshape %k0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %k = graph.transpose %k1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %v0 = graph.slice %x dim 1 from 32 step 1 : tensor<4x48xbf16> -> tensor<4x16xbf16>
    %v1 = graph.reshape %v0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %v = graph.transpose %v1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %y, %lse = graph.attention %q, %k, %v {scale = 0.5 : f64, causal, graph.direct_attention} : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
    %dq, %dk, %dv = graph.attention_grad %q, %k, %v, %y, %lse, %y {scale = 0.5 : f64, causal, graph.direct_attention} : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4xf32>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>)
    return %y, %dk : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>
  }
}

// -----

// Matrices whose rows do not begin at multiples of 16 bytes are copied first.
// CHECK-LABEL: program.tensor input "x" tensor<4x49xbf16>
// CHECK: program.load_input
// CHECK-COUNT-3: program.launch @k{{.*}}copy
// CHECK-NEXT: program.attention {{.*}} views [#program.view<0 at 0 by[32, 8, 1]>, #program.view<1 at 0 by[32, 8, 1]>, #program.view<2 at 0 by[32, 8, 1]>,
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<4x49xbf16> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4x8xbf16> {graph.name = "y", graph.role = "output"}, tensor<2x4x8xbf16> {graph.name = "z", graph.role = "output"}) {
    %q0 = graph.slice %x dim 1 from 0 step 1 : tensor<4x49xbf16> -> tensor<4x16xbf16>
    %q1 = graph.reshape %q0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %q = graph.transpose %q1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %k0 = graph.slice %x dim 1 from 17 step 1 : tensor<4x49xbf16> -> tensor<4x16xbf16>
    %k1 = graph.reshape %k0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %k = graph.transpose %k1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %v0 = graph.slice %x dim 1 from 33 step 1 : tensor<4x49xbf16> -> tensor<4x16xbf16>
    %v1 = graph.reshape %v0 : tensor<4x16xbf16> -> tensor<4x2x8xbf16>
    %v = graph.transpose %v1 by [1, 0, 2] : tensor<4x2x8xbf16> -> tensor<2x4x8xbf16>
    %y, %lse = graph.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
    return %y, %y : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>
  }
}

// -----

// The heads of a product's rows are read where the product wrote them.
// CHECK-LABEL: program.tensor input "x" tensor<2x4x16xbf16>
// CHECK-NOT: copy
// CHECK: program.attention {{.*}} views [#program.view<0 at 0 by[64, 8, 16, 1]>,
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x4x16xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<16x16xbf16> {graph.name = "w", graph.role = "input"})
      -> (tensor<2x2x4x8xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [2] x [0] : tensor<2x4x16xbf16>, tensor<16x16xbf16> -> tensor<2x4x16xbf16>
    %1 = graph.reshape %0 : tensor<2x4x16xbf16> -> tensor<2x4x2x8xbf16>
    %q = graph.transpose %1 by [0, 2, 1, 3] : tensor<2x4x2x8xbf16> -> tensor<2x2x4x8xbf16>
    %y, %lse = graph.attention %q, %q, %q {scale = 0.5 : f64, causal} : (tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>) -> (tensor<2x2x4x8xbf16>, tensor<2x2x4xf32>)
    return %y : tensor<2x2x4x8xbf16>
  }
}
