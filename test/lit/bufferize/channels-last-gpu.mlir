// On GPUs, 16-bit convolutions and what is computed elementwise from them lie channels-last (analysis::ChannelsLast).
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// Arguments are row-major and copied; the first group works in place, and the second one writes the order that the reshape needs.
// CHECK-LABEL: program.tensor input "x"
// CHECK: program.kernel @[[EXP:.*_exp]] on 1 operands [#program.view<0 at 0 by[320, 1, 80, 16]>] results [#program.view<0 at 0 by[320, 1, 80, 16]>]
// CHECK: program.kernel @[[POOL:.*_pool]] on 2 operands [#program.view<0 at 0 by[320, 1, 80, 16]>] results [#program.view<1 at 0 by[96, 1, 48, 16]>]
// CHECK: program.kernel @[[RELU:.*]] on 2 operands [#program.view<0 at 0 by[96, 1, 48, 16]>] results [#program.view<1 at 0 by[96, 6, 3, 1]>]
// CHECK-DAG: %[[X:.*]] = program.buffer workspace "dense" tensor<2x6x7x8xbf16>
// CHECK-DAG: %[[W:.*]] = program.buffer workspace "dense" tensor<16x3x3x8xbf16>
// CHECK-DAG: %[[C:.*]] = program.buffer activation "conv" tensor<2x4x5x16xbf16>
// CHECK-DAG: %[[P:.*]] = program.buffer activation "pool" tensor<2x2x3x16xbf16>
// CHECK-DAG: %[[R:.*]] = program.buffer output "y" tensor<2x96xbf16>
// CHECK: program.convolution forward %[[X]] [2, 8, 6, 7], %[[W]] [16, 8, 3, 3], %[[C]] [2, 16, 4, 5] {{.*}} {channels_last}
// CHECK-NEXT: program.launch @[[EXP]](%[[C]]) writes [0]
// CHECK-NEXT: program.launch @[[POOL]](%[[C]], %[[P]]) writes [1]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x8x6x7xbf16> {graph.name = "x", graph.role = "input"}, %w: tensor<16x8x3x3xbf16> {graph.name = "w", graph.role = "input"})
      -> (tensor<2x96xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
        pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<2x8x6x7xbf16>, tensor<16x8x3x3xbf16> -> tensor<2x16x4x5xbf16>
    %1 = graph.fusion (%a = %0 : tensor<2x16x4x5xbf16>) -> (tensor<2x16x4x5xbf16>) {
      %2 = graph.exp %a : tensor<2x16x4x5xbf16>
      graph.yield %2 : tensor<2x16x4x5xbf16>
    }
    %3 = graph.pool max %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
        pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 1>} : tensor<2x16x4x5xbf16> -> tensor<2x16x2x3xbf16>
    %4 = graph.fusion (%a = %3 : tensor<2x16x2x3xbf16>) -> (tensor<2x16x2x3xbf16>) {
      %5 = graph.neg %a : tensor<2x16x2x3xbf16>
      graph.yield %5 : tensor<2x16x2x3xbf16>
    }
    %6 = graph.reshape %4 : tensor<2x16x2x3xbf16> -> tensor<2x96xbf16>
    return %6 : tensor<2x96xbf16>
  }
}

// -----

// The gradient of a weight is copied to row-major order, in which the parameter is. Convolutions of f32 are row-major.
// CHECK-LABEL: program.tensor input "x"
// CHECK: program.kernel @[[COPY:.*_copy]] on 2 operands [#program.view<0 at 0 by[72, 1, 24, 8]>] results [#program.view<1 at 0 by[72, 9, 3, 1]>]
// CHECK: program.kernel @[[CAST:.*_cast]] on 2 operands [#program.view<0 at 0 by[72, 9, 3, 1]>] results [#program.view<1 at 0 by[72, 9, 3, 1]>]
// CHECK-DAG: program.buffer activation "conv_weight_grad" tensor<16x3x3x8xbf16>
// CHECK-DAG: program.buffer activation "conv" tensor<2x16x4x5xf32>
// CHECK: program.convolution weight_gradient {{.*}} groups 1 {channels_last}
// CHECK-NEXT: program.launch @[[COPY]]
// CHECK-NEXT: program.launch @[[CAST]]
// CHECK: program.convolution forward
// CHECK-NOT: channels_last
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x8x6x7xbf16> {graph.name = "x", graph.role = "input"}, %dy: tensor<2x16x4x5xbf16> {graph.name = "dy", graph.role = "input"},
                  %u: tensor<2x8x6x7xf32> {graph.name = "u", graph.role = "input"}, %w: tensor<16x8x3x3xf32> {graph.name = "w", graph.role = "input"})
      -> (tensor<16x8x3x3xf32> {graph.name = "y", graph.role = "output"}, tensor<2x16x4x5xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.conv_weight_grad %dy, %x {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
        pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<2x16x4x5xbf16>, tensor<2x8x6x7xbf16> -> tensor<16x8x3x3xbf16>
    %1 = graph.fusion (%a = %0 : tensor<16x8x3x3xbf16>) -> (tensor<16x8x3x3xf32>) {
      %2 = graph.cast %a : tensor<16x8x3x3xbf16> -> tensor<16x8x3x3xf32>
      graph.yield %2 : tensor<16x8x3x3xf32>
    }
    %3 = graph.conv %u, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
        pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<2x8x6x7xf32>, tensor<16x8x3x3xf32> -> tensor<2x16x4x5xf32>
    return %1, %3 : tensor<16x8x3x3xf32>, tensor<2x16x4x5xf32>
  }
}
