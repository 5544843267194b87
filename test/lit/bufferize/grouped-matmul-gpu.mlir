// On GPUs, grouped products are kernels on any views; offsets are buffers. A rank with two of three groups counts two thirds of the FLOPs.
// RUN: cleave-opt %s --cleave-bufferize | FileCheck %s

// CHECK-NOT: program.grouped_matmul
// CHECK-NOT: program.copy
// CHECK: program.kernel @k1_grouped_matmul on 4 operands [#program.view<0 at 0 by[8, 2]>, #program.view<1 at 0 by[32, 1, 4]>, #program.view<2 at 0 by[1]>] results [#program.view<3 at 0 by[8, 1]>]
// CHECK: program.kernel @k2_grouped_weight_grad on 5 {{.*}}flops = 2.560000e+02
// CHECK: program.launch @k1_grouped_matmul
// CHECK-NEXT: program.launch @k2_grouped_weight_grad
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<6x8xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<3x8x4xf32> {graph.name = "w", graph.role = "input"},
                  %ends: tensor<3xi32> {graph.name = "ends", graph.role = "input"},
                  %first: tensor<i64> {graph.name = "first", graph.role = "input"})
      -> (tensor<6x8xf32> {graph.name = "y", graph.role = "output"}, tensor<2x4x8xf32> {graph.name = "dw", graph.role = "output"}) {
    %t = graph.transpose %w by [0, 2, 1] : tensor<3x8x4xf32> -> tensor<3x4x8xf32>
    %even = graph.slice %x dim 1 from 0 step 2 : tensor<6x8xf32> -> tensor<6x4xf32>
    %y = graph.grouped_matmul %even, %t, %ends : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
    %dw = graph.grouped_weight_grad %even, %y, %ends group %first : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<2x4x8xf32>
    return %y, %dw : tensor<6x8xf32>, tensor<2x4x8xf32>
  }
}
