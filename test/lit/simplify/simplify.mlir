// Folding, merging and recognition together. The patterns of each theme are tested in the other files of this folder.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// Constants are folded, equal ops merged and dead ones erased, until a gelu shows: x * 0.5 * (1 + erf(x / sqrt(2))).
// CHECK-LABEL: func @parts_become_one_op
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.gelu %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @parts_become_one_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %dead = graph.exp %x : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %root = graph.sqrt %two : tensor<4xf32>
  %half = graph.div %one, %two : tensor<4xf32>
  %0 = graph.div %x, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %half : tensor<4xf32>
  %4 = graph.mul %3, %2 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
