// Convolutions for cuDNN: input channels are filled up to a multiple of eight, its engines store weight gradients in the type of the
// operands, and their workspaces hold copies of results that do not have channels in groups of eight, and partial sums, from a multiple
// of 256 bytes on.
// DEFINE: %{compile} = cleave-compile %s --start-from import --train --loss output:y --optimizer sgd:lr=0.5 --cluster h100-node --ranks 1
// RUN: %{compile} --dtype bf16 --stop-after primitive -o - | FileCheck %s --check-prefix=BF16
// RUN: %{compile} --stop-after primitive -o - | FileCheck %s --check-prefix=F32
// RUN: %{compile} --dtype bf16 --device cpu --stop-after primitive -o - | FileCheck %s --check-prefix=CPU
// RUN: %{compile} --dtype bf16 --stop-after program -o - | FileCheck %s --check-prefix=PROGRAM

// BF16: graph.conv_weight_grad
// BF16: : tensor<8x4x16x16xbf16>, tensor<8x8x16x16xbf16> -> tensor<4x8x3x3xbf16>
// BF16: graph.cast %{{.*}} : tensor<4x3x3x3xbf16> -> tensor<4x3x3x3xf32>
// F32: graph.conv_weight_grad
// F32: : tensor<8x4x16x16xf32>, tensor<8x3x16x16xf32> -> tensor<4x3x3x3xf32>
// CPU: graph.conv_weight_grad
// CPU: : tensor<8x4x16x16xbf16>, tensor<8x3x16x16xbf16> -> tensor<4x3x3x3xf32>

// 8 MiB, and 8 x 8 x 16 x 16 elements.
// PROGRAM: program.buffer {{ *}}activation "conv" tensor<8x16x16x4xbf16>
// PROGRAM: program.buffer {{ *}}workspace "workspace" tensor<8421376xi8>
// PROGRAM: program.buffer {{ *}}activation "conv_weight_grad" tensor<4x3x3x8xbf16>
// PROGRAM: program.convolution weight_gradient {{.*}} groups 1 {channels_last}
module {
  func.func @step(%x: tensor<8x3x16x16xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<4x3x3x3xf32> {graph.name = "w", graph.role = "parameter",
                     graph.source = {fill = 0.5 : f64}})
      -> (tensor<f32> {graph.name = "y", graph.role = "output"}) {
    %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>,
        pads_high = array<i64: 1, 1>, groups = 1 : i64}
      : tensor<8x3x16x16xf32>, tensor<4x3x3x3xf32> -> tensor<8x4x16x16xf32>
    %m = graph.mul %c, %c : tensor<8x4x16x16xf32>
    %y = graph.reduce sum %m over [0, 1, 2, 3] : tensor<8x4x16x16xf32> -> tensor<f32>
    return %y : tensor<f32>
  }
}
