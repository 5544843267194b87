// Rows times matrices that are gathered by an index per row are grouped by index.
// RUN: cleave-opt %s --cleave-simplify | FileCheck %s

// CHECK-LABEL: @selected_matrices(
// CHECK: %[[VALID:.*]] = graph.select
// CHECK: %{{.*}}, %[[ORDER:.*]] = graph.sort %[[VALID]] dim 0
// CHECK: %[[ROWS:.*]] = graph.gather %arg0 at %[[ORDER]] dim 0
// CHECK: %[[ENDS:.*]] = graph.reduce sum {{.*}} over [1] : tensor<3x8xi64> -> tensor<3xi64>
// CHECK: %[[Y:.*]] = graph.grouped_matmul %[[ROWS]], %{{.*}}, %[[ENDS]]
// CHECK: %{{.*}}, %[[PLACE:.*]] = graph.sort %[[ORDER]] dim 0
// CHECK: graph.gather %[[Y]] at %[[PLACE]] dim 0
// CHECK-NOT: graph.dot_general
func.func @selected_matrices(%x: tensor<8x4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<8xi64>) -> tensor<8x5x1xf32> {
  %m = graph.gather %w at %i dim 0 : tensor<3x5x4xf32>, tensor<8xi64> -> tensor<8x5x4xf32>
  %c = graph.reshape %x : tensor<8x4xf32> -> tensor<8x4x1xf32>
  %y = graph.dot_general %m, %c batch [0] x [0] contract [2] x [1] : tensor<8x5x4xf32>, tensor<8x4x1xf32> -> tensor<8x5x1xf32>
  return %y : tensor<8x5x1xf32>
}

// CHECK-LABEL: @the_rows_may_come_first(
// CHECK: graph.grouped_matmul %{{.*}}, %arg1, %{{.*}}
// CHECK-NOT: graph.dot_general
func.func @the_rows_may_come_first(%x: tensor<8x5xf32>, %w: tensor<3x5x4xf32>, %i: tensor<8xi64>) -> tensor<8x4xf32> {
  %m = graph.gather %w at %i dim 0 : tensor<3x5x4xf32>, tensor<8xi64> -> tensor<8x5x4xf32>
  %y = graph.dot_general %x, %m batch [0] x [0] contract [1] x [1] : tensor<8x5xf32>, tensor<8x5x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Fewer rows than matrices: gathering reads less.
// CHECK-LABEL: @few_rows(
// CHECK-NOT: graph.grouped_matmul
func.func @few_rows(%x: tensor<2x4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<2xi64>) -> tensor<2x5xf32> {
  %m = graph.gather %w at %i dim 0 : tensor<3x5x4xf32>, tensor<2xi64> -> tensor<2x5x4xf32>
  %y = graph.dot_general %m, %x batch [0] x [0] contract [2] x [1] : tensor<2x5x4xf32>, tensor<2x4xf32> -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Several rows per index are a batch of products.
// CHECK-LABEL: @matrices_of_rows(
// CHECK-NOT: graph.grouped_matmul
func.func @matrices_of_rows(%x: tensor<8x2x4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<8xi64>) -> tensor<8x2x5xf32> {
  %m = graph.gather %w at %i dim 0 : tensor<3x5x4xf32>, tensor<8xi64> -> tensor<8x5x4xf32>
  %y = graph.dot_general %x, %m batch [0] x [0] contract [2] x [2] : tensor<8x2x4xf32>, tensor<8x5x4xf32> -> tensor<8x2x5xf32>
  return %y : tensor<8x2x5xf32>
}
