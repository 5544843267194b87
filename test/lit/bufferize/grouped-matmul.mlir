// Grouped products read and write strided views, so that transposed weights and their gradients are not copied.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK-LABEL: module
// CHECK-NOT: program.copy
// CHECK: program.grouped_matmul
// CHECK-SAME: <0 at 0 by[4, 1]>
// CHECK-SAME: <1 at 0 by[32, 1, 4]>
// CHECK-SAME: <2 at 0 by[8, 1]>
// CHECK-SAME: rows 6 groups 3 inputs 4 outputs 8 of 6 rows 3 groups
// CHECK-NOT: program.launch
// CHECK: program.grouped_matmul
// CHECK-SAME: <1 at 0 by[32, 1, 4]>
// CHECK-SAME: {weight_gradient}
// CHECK-NOT: program.launch
module {
  func.func @step(%x: tensor<6x4xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<3x8x4xf32> {graph.name = "w", graph.role = "input"},
                  %ends: tensor<3xi32> {graph.name = "ends", graph.role = "input"})
      -> (tensor<6x8xf32> {graph.name = "y", graph.role = "output"}, tensor<3x8x4xf32> {graph.name = "dw", graph.role = "output"}) {
    %t = graph.transpose %w by [0, 2, 1] : tensor<3x8x4xf32> -> tensor<3x4x8xf32>
    %y = graph.grouped_matmul %x, %t, %ends : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
    %dt = graph.grouped_weight_grad %x, %y, %ends : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
    %dw = graph.transpose %dt by [0, 2, 1] : tensor<3x4x8xf32> -> tensor<3x8x4xf32>
    return %y, %dw : tensor<6x8xf32>, tensor<3x8x4xf32>
  }
}

// -----

// Every second column of a tensor is copied; offsets are buffers.
// CHECK-LABEL: module
// CHECK: program.launch
// CHECK: program.grouped_matmul
// CHECK-SAME: <0 at 0 by[4, 1]>
// CHECK-SAME: row %{{.*}} group %{{.*}} rows 6 groups 2 inputs 4 outputs 8 of 12 rows 3 groups
module {
  func.func @step(%x: tensor<6x8xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<2x4x8xf32> {graph.name = "w", graph.role = "input"},
                  %ends: tensor<3xi64> {graph.name = "ends", graph.role = "input"},
                  %first: tensor<i64> {graph.name = "first", graph.role = "input"})
      -> (tensor<6x8xf32> {graph.name = "y", graph.role = "output"}) {
    %even = graph.slice %x dim 1 from 0 step 2 : tensor<6x8xf32> -> tensor<6x4xf32>
    %y = graph.grouped_matmul %even, %w, %ends row %first group %first {whole_rows = 12 : i64}
      : tensor<6x4xf32>, tensor<2x4x8xf32>, tensor<3xi64> -> tensor<6x8xf32>
    return %y : tensor<6x8xf32>
  }
}
