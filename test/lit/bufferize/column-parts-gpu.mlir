// On GPUs, long columns are summed in parts of the rows, and the parts by a second kernel (ColumnParts.h).
// RUN: cleave-opt %s --cleave-bufferize | FileCheck %s

// The dims of batch and sequence become one, which is split; the first kernel also writes the result with all rows.
// CHECK: program.tensor input "x"
// CHECK: program.kernel @[[FIRST:.*]] on 3 operands [#program.view<0 at 0 by[16384, 256, 1]>] results [#program.view<1 at 0 by[16384, 256, 1]>, #program.view<2 at 0 by[256, 1]>]
// CHECK: graph.reduce sum %{{.*}} over [1] : tensor<256x64x256xf32> -> tensor<256x256xf32>
// CHECK: program.kernel @[[SECOND:.*]] on 2 operands [#program.view<0 at 0 by[256, 1]>] results [#program.view<1 at 0 by[1]>]
// CHECK: graph.reduce sum %{{.*}} over [0] : tensor<256x256xf32> -> tensor<256xf32>
// CHECK: %[[PARTS:.*]] = program.buffer workspace "parts" tensor<256x256xf32>
// CHECK: program.launch @[[FIRST]](%{{.*}}, %{{.*}}, %[[PARTS]]) writes [1, 2]
// CHECK-NEXT: program.launch @[[SECOND]](%[[PARTS]], %{{.*}}) writes [1]
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<16x1024x256xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<16x1024x256xf32> {graph.name = "y", graph.role = "output"}, tensor<256xf32> {graph.name = "s", graph.role = "output"}) {
    %0:2 = graph.fusion (%a = %x : tensor<16x1024x256xf32>) -> (tensor<16x1024x256xf32>, tensor<256xf32>) {
      %1 = graph.exp %a : tensor<16x1024x256xf32>
      %2 = graph.reduce sum %1 over [0, 1] : tensor<16x1024x256xf32> -> tensor<256xf32>
      graph.yield %1, %2 : tensor<16x1024x256xf32>, tensor<256xf32>
    }
    return %0#0, %0#1 : tensor<16x1024x256xf32>, tensor<256xf32>
  }
}
