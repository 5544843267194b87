// Composites become primitive ops, and those that come out of them, too.
// RUN: cleave-opt --cleave-decompose-composites %s | FileCheck %s

// CHECK-LABEL: @silu_goes_through_sigmoid
func.func @silu_goes_through_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.s{{(ilu|igmoid)}}
  // CHECK: graph.exp
  // CHECK: %[[S:.*]] = graph.div
  // CHECK: graph.mul %arg0, %[[S]]
  %y = graph.silu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @softmax_subtracts_the_maximum_first
func.func @softmax_subtracts_the_maximum_first(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[M:.*]] = graph.reduce max %arg0 over [1]
  // CHECK: %[[B:.*]] = graph.broadcast %[[M]] to [0]
  // CHECK: %[[D:.*]] = graph.sub %arg0, %[[B]]
  // CHECK: %[[E:.*]] = graph.exp %[[D]]
  // CHECK: graph.reduce sum %[[E]] over [1]
  // CHECK: graph.div %[[E]]
  %y = graph.softmax %x dim 1 : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
