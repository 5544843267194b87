// A kernel group loses operands that nobody inside reads, doubles, and results that nobody outside reads.
// RUN: cleave-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @unread
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<8x2xf32>)
func.func @unread(%x: tensor<4xf32>, %y: tensor<8x2xf32>) -> tensor<4xf32> {
  // CHECK: graph.fusion (%[[A:.*]] = %[[X]] : tensor<4xf32>) -> (tensor<4xf32>)
  // CHECK: graph.mul %[[A]], %[[A]]
  // CHECK-NOT: graph.neg
  %0:2 = graph.fusion (%a = %x : tensor<4xf32>, %b = %y : tensor<8x2xf32>, %c = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = graph.mul %a, %c : tensor<4xf32>
    %2 = graph.neg %a : tensor<4xf32>
    graph.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}
