// Softmax by its formula.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @exponentials_divided_by_their_sum
func.func @exponentials_divided_by_their_sum(%x: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.softmax %arg0 dim 1 : tensor<3x5x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.exp %x : tensor<3x5x8xf32>
  %1 = graph.reduce sum %0 over [1] : tensor<3x5x8xf32> -> tensor<3x8xf32>
  %2 = graph.broadcast %1 to [0, 2] : tensor<3x8xf32> -> tensor<3x5x8xf32>
  %3 = graph.div %0, %2 : tensor<3x5x8xf32>
  return %3 : tensor<3x5x8xf32>
}

// The maximum has a gradient of its own, which is 0 in sum: it may be detached or not.
// CHECK-LABEL: @the_maximum_may_be_subtracted_first
func.func @the_maximum_may_be_subtracted_first(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.softmax %arg0 dim 1 : tensor<3x5xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.reduce max %x over [1] : tensor<3x5xf32> -> tensor<3xf32>
  %1 = graph.stop_gradient %0 : tensor<3xf32>
  %2 = graph.broadcast %1 to [0] : tensor<3xf32> -> tensor<3x5xf32>
  %3 = graph.sub %x, %2 : tensor<3x5xf32>
  %4 = graph.exp %3 : tensor<3x5xf32>
  %5 = graph.reduce sum %4 over [1] : tensor<3x5xf32> -> tensor<3xf32>
  %6 = graph.broadcast %5 to [0] : tensor<3xf32> -> tensor<3x5xf32>
  %7 = graph.div %4, %6 : tensor<3x5xf32>
  return %7 : tensor<3x5xf32>
}

// CHECK-LABEL: @what_differs_along_the_dim_stays
func.func @what_differs_along_the_dim_stays(%x: tensor<5x5xf32>, %y: tensor<5xf32>) -> tensor<5x5xf32> {
  // CHECK: %[[D:.*]] = graph.sub
  // CHECK-NEXT: graph.softmax %[[D]] dim 1
  %0 = graph.broadcast %y to [1] : tensor<5xf32> -> tensor<5x5xf32>
  %1 = graph.sub %x, %0 : tensor<5x5xf32>
  %2 = graph.softmax %1 dim 1 : tensor<5x5xf32>
  return %2 : tensor<5x5xf32>
}

// CHECK-LABEL: @a_sum_along_another_dim_is_none
func.func @a_sum_along_another_dim_is_none(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  // CHECK-NOT: graph.softmax
  // CHECK: return
  %0 = graph.exp %x : tensor<5x5xf32>
  %1 = graph.reduce sum %0 over [1] : tensor<5x5xf32> -> tensor<5xf32>
  %2 = graph.broadcast %1 to [1] : tensor<5xf32> -> tensor<5x5xf32>
  %3 = graph.div %0, %2 : tensor<5x5xf32>
  return %3 : tensor<5x5xf32>
}
