// On GPUs, an op writes its result into the buffer of the pad that reads it, after a fill; pads of several dims with one value share
// the buffer.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK-LABEL: program.tensor input "x"
// CHECK: program.kernel @[[EXP:.*_exp]] on 2 operands [#program.view<0 at 0 by[12, 4, 1]>] results [#program.view<1 at 23 by[42, 7, 1]>]
// CHECK-COUNT-3: program.buffer
// CHECK-NOT: program.buffer
// CHECK: program.fill %[[P:.*]] with 0
// CHECK-NEXT: program.launch @[[EXP]]({{.*}}, %[[P]]) writes [1]
// CHECK-NEXT: program.copy %[[P]] to
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x3x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x6x7xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.fusion (%a = %x : tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>) {
      %e = graph.exp %a : tensor<2x3x4xf32>
      graph.yield %e : tensor<2x3x4xf32>
    }
    %1 = graph.pad %0 dim 1 low 3 : tensor<2x3x4xf32> -> tensor<2x6x4xf32>
    %2 = graph.pad %1 dim 2 low 2 : tensor<2x6x4xf32> -> tensor<2x6x7xf32>
    return %2 : tensor<2x6x7xf32>
  }
}

// -----

// Operands are copied to pads with another value, and to pads of results that other ops read.
// CHECK-LABEL: program.tensor input "x"
// CHECK: program.fill %[[ONE:.*]] with 1
// CHECK-NEXT: program.launch @{{.*}}_copy({{.*}}, %[[ONE]]) writes [1]
// CHECK-NEXT: program.fill %[[ZERO:.*]] with 0
// CHECK-NEXT: program.launch @{{.*}}_copy(%[[ONE]], %[[ZERO]]) writes [1]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x3xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<5x5xf32> {graph.name = "y", graph.role = "output"}) {
    %1 = graph.pad %x dim 0 low 1 {value = 1.0} : tensor<2x3xf32> -> tensor<5x3xf32>
    %2 = graph.pad %1 dim 1 low 1 : tensor<5x3xf32> -> tensor<5x5xf32>
    return %2 : tensor<5x5xf32>
  }
}

// -----

// The image of a convolution is written channels-last with its padding and the channels that fill it up.
// CHECK-LABEL: program.tensor input "x"
// CHECK: program.kernel @[[CAST:.*_cast]] on 2 operands [#program.view<0 at 0 by[48, 16, 4, 1, 8, 2]>] results [#program.view<1 at 64 by[144, 4, 2, 1, 48, 16]>]
// CHECK-DAG: %[[X:.*]] = program.buffer activation "pad" tensor<2x3x3x16xbf16>
// CHECK: program.fill %[[X]] with 0
// CHECK-NEXT: program.launch @[[CAST]]
// CHECK: program.convolution forward %[[X]] [2, 16, 3, 3]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<2x3x4x4xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<8x16x2x2xbf16> {graph.name = "w", graph.role = "input"})
      -> (tensor<2x8x2x2xbf16> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.reshape %x : tensor<2x3x4x4xf32> -> tensor<2x3x2x2x2x2xf32>
    %1 = graph.transpose %0 by [0, 1, 3, 5, 2, 4] : tensor<2x3x2x2x2x2xf32> -> tensor<2x3x2x2x2x2xf32>
    %2 = graph.fusion (%a = %1 : tensor<2x3x2x2x2x2xf32>) -> (tensor<2x3x2x2x2x2xbf16>) {
      %c = graph.cast %a : tensor<2x3x2x2x2x2xf32> -> tensor<2x3x2x2x2x2xbf16>
      graph.yield %c : tensor<2x3x2x2x2x2xbf16>
    }
    %3 = graph.reshape %2 : tensor<2x3x2x2x2x2xbf16> -> tensor<2x12x2x2xbf16>
    %4 = graph.pad %3 dim 2 low 1 : tensor<2x12x2x2xbf16> -> tensor<2x12x3x2xbf16>
    %5 = graph.pad %4 dim 3 low 1 : tensor<2x12x3x2xbf16> -> tensor<2x12x3x3xbf16>
    %6 = graph.pad %5 dim 1 low 0 : tensor<2x12x3x3xbf16> -> tensor<2x16x3x3xbf16>
    %y = graph.conv %6, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
        pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<2x16x3x3xbf16>, tensor<8x16x2x2xbf16> -> tensor<2x8x2x2xbf16>
    return %y : tensor<2x8x2x2xbf16>
  }
}
