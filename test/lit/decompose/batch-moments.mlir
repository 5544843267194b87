// On GPUs, mean and variance over a batch take one pass over the data.
// RUN: cleave-opt --cleave-decompose-batch-moments %s | FileCheck %s

// CHECK-LABEL: @moments_of_each_sample_are_merged
func.func @moments_of_each_sample_are_merged(%x: tensor<8x16x32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  // CHECK: %[[SLICE:.*]] = graph.slice %arg0 dim 1 from 0 step 1 : tensor<8x16x32xf32> -> tensor<8x1x32xf32>
  // CHECK: %[[FIRST:.*]] = graph.reshape %[[SLICE]] : tensor<8x1x32xf32> -> tensor<8x32xf32>
  // CHECK: %[[AWAY:.*]] = graph.sub %arg0, %{{.*}} : tensor<8x16x32xf32>
  // CHECK: %[[LINEAR:.*]] = graph.reduce sum %[[AWAY]] over [1] : tensor<8x16x32xf32> -> tensor<8x32xf32>
  // CHECK: %[[SQUARE:.*]] = graph.mul %[[AWAY]], %[[AWAY]]
  // CHECK: %[[QUADRATIC:.*]] = graph.reduce sum %[[SQUARE]] over [1] : tensor<8x16x32xf32> -> tensor<8x32xf32>
  // CHECK: graph.reduce sum %{{.*}} over [0] : tensor<8x32xf32> -> tensor<32xf32>
  // CHECK-NOT: over [0, 1]
  // CHECK: graph.sub %[[QUADRATIC]], %{{.*}} : tensor<8x32xf32>
  // CHECK: graph.reduce sum %{{.*}} over [0] : tensor<8x32xf32> -> tensor<32xf32>
  %sum = graph.reduce sum %x over [0, 1] : tensor<8x16x32xf32> -> tensor<32xf32>
  %share = graph.constant dense<7.812500e-03> : tensor<32xf32>
  %mean = graph.mul %sum, %share : tensor<32xf32>
  %repeated = graph.broadcast %mean to [2] : tensor<32xf32> -> tensor<8x16x32xf32>
  %centred = graph.sub %x, %repeated : tensor<8x16x32xf32>
  %square = graph.mul %centred, %centred : tensor<8x16x32xf32>
  %squares = graph.reduce sum %square over [0, 1] : tensor<8x16x32xf32> -> tensor<32xf32>
  return %mean, %squares : tensor<32xf32>, tensor<32xf32>
}

// A row stays in registers between mean and variance.
// CHECK-LABEL: @rows_are_left
func.func @rows_are_left(%x: tensor<8x16x32xf32>) -> tensor<8xf32> {
  // CHECK: graph.reduce sum %arg0 over [1, 2]
  // CHECK-NOT: graph.slice
  %sum = graph.reduce sum %x over [1, 2] : tensor<8x16x32xf32> -> tensor<8xf32>
  %share = graph.constant dense<1.953125e-03> : tensor<8xf32>
  %mean = graph.mul %sum, %share : tensor<8xf32>
  %repeated = graph.broadcast %mean to [0] : tensor<8xf32> -> tensor<8x16x32xf32>
  %centred = graph.sub %x, %repeated : tensor<8x16x32xf32>
  %square = graph.mul %centred, %centred : tensor<8x16x32xf32>
  %squares = graph.reduce sum %square over [1, 2] : tensor<8x16x32xf32> -> tensor<8xf32>
  return %squares : tensor<8xf32>
}

// Distances from another value than the mean give no variance.
// CHECK-LABEL: @another_share_is_left
func.func @another_share_is_left(%x: tensor<8x16x32xf32>) -> tensor<32xf32> {
  // CHECK-NOT: graph.slice
  // CHECK: return
  %sum = graph.reduce sum %x over [0, 1] : tensor<8x16x32xf32> -> tensor<32xf32>
  %share = graph.constant dense<1.0> : tensor<32xf32>
  %mean = graph.mul %sum, %share : tensor<32xf32>
  %repeated = graph.broadcast %mean to [2] : tensor<32xf32> -> tensor<8x16x32xf32>
  %centred = graph.sub %x, %repeated : tensor<8x16x32xf32>
  %square = graph.mul %centred, %centred : tensor<8x16x32xf32>
  %squares = graph.reduce sum %square over [0, 1] : tensor<8x16x32xf32> -> tensor<32xf32>
  return %squares : tensor<32xf32>
}
