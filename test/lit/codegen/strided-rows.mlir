// RUN: cleave-opt --cleave-codegen-cpu %s | FileCheck %s
// A row is used behind its own reduction, and the result has another dim last: still one nest per row.

// CHECK: program.kernel
program.kernel @centred on 2 operands [#program.view<0 at 0 by[64, 16, 1]>] results [#program.view<1 at 0 by[64, 1, 4]>] {
^bb0(%arg0: tensor<4x4x16xf32>):
  %0 = graph.fusion (%x = %arg0 : tensor<4x4x16xf32>) -> (tensor<4x4x16xf32>) {
    %1 = graph.reduce sum %x over [2] : tensor<4x4x16xf32> -> tensor<4x4xf32>
    %2 = graph.broadcast %1 to [0, 1] : tensor<4x4xf32> -> tensor<4x4x16xf32>
    %3 = graph.sub %x, %2 : tensor<4x4x16xf32>
    graph.yield %3 : tensor<4x4x16xf32>
  }
}
