// Inputs whose slices index tables: what their elements must be below.
// RUN: cleave-compile %s --start-from train --stop-after primitive --ranks 1 -o - | FileCheck %s

// Columns of categories with tables of 5 and 100 rows: none may be beyond 100. Of `first`, only the first two index anything.
// The order of `backwards` makes no difference.
// CHECK: graph.name = "columns"
// CHECK: graph.vocabulary = 100
// CHECK: graph.name = "first"
// CHECK-NOT: graph.vocabulary
// CHECK: graph.name = "backwards"
// CHECK: graph.vocabulary = 5
func.func @step(%columns: tensor<4x2xi64> {graph.name = "columns", graph.role = "input"},
                %first: tensor<6xi64> {graph.name = "first", graph.role = "input"},
                %backwards: tensor<6xi64> {graph.name = "backwards", graph.role = "input"},
                %small: tensor<5x3xf32> {graph.name = "small", graph.role = "input"},
                %large: tensor<100x3xf32> {graph.name = "large", graph.role = "input"})
    -> (tensor<4x1x3xf32> {graph.name = "a", graph.role = "output"}, tensor<4x1x3xf32> {graph.name = "b", graph.role = "output"},
        tensor<2x3xf32> {graph.name = "c", graph.role = "output"}, tensor<6x3xf32> {graph.name = "d", graph.role = "output"}) {
  %i = graph.slice %columns dim 1 from 0 step 1 : tensor<4x2xi64> -> tensor<4x1xi64>
  %j = graph.slice %columns dim 1 from 1 step 1 : tensor<4x2xi64> -> tensor<4x1xi64>
  %k = graph.slice %first dim 0 from 0 step 1 : tensor<6xi64> -> tensor<2xi64>
  %a = graph.gather %small at %i dim 0 : tensor<5x3xf32>, tensor<4x1xi64> -> tensor<4x1x3xf32>
  %b = graph.gather %large at %j dim 0 : tensor<100x3xf32>, tensor<4x1xi64> -> tensor<4x1x3xf32>
  %c = graph.gather %small at %k dim 0 : tensor<5x3xf32>, tensor<2xi64> -> tensor<2x3xf32>
  %r = graph.reverse %backwards dim 0 : tensor<6xi64>
  %d = graph.gather %small at %r dim 0 : tensor<5x3xf32>, tensor<6xi64> -> tensor<6x3xf32>
  return %a, %b, %c, %d : tensor<4x1x3xf32>, tensor<4x1x3xf32>, tensor<2x3xf32>, tensor<6x3xf32>
}
