// Which equal ops are one: all, except those that draw random numbers without a seed.
// RUN: cleave-opt %s --cse | FileCheck %s

// CHECK-LABEL: @equal_ops_are_merged
func.func @equal_ops_are_merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %arg0
  // CHECK-NEXT: graph.add %[[E]], %[[E]]
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.exp %x : tensor<4xf32>
  %2 = graph.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @ops_with_different_attributes_stay_apart
func.func @ops_with_different_attributes_stay_apart(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: graph.gelu
  %0 = graph.gelu %x : tensor<4xf32>
  %1 = graph.gelu %x {tanh} : tensor<4xf32>
  %2 = graph.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @dropouts_without_a_seed_stay_apart
func.func @dropouts_without_a_seed_stay_apart(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.dropout %arg0
  // CHECK-NEXT: %[[B:.*]] = graph.dropout %arg0
  // CHECK-NEXT: graph.add %[[A]], %[[B]]
  %0 = graph.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
  %1 = graph.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
  %2 = graph.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @dropouts_with_one_seed_are_merged
func.func @dropouts_with_one_seed_are_merged(%x: tensor<4xf32>, %s: tensor<i64>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.dropout %arg0 seed %arg1
  // CHECK-NEXT: graph.add %[[A]], %[[A]]
  %0 = graph.dropout %x seed %s {rate = 0.5 : f64} : tensor<4xf32>
  %1 = graph.dropout %x seed %s {rate = 0.5 : f64} : tensor<4xf32>
  %2 = graph.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @attentions_that_drop_without_a_seed_stay_apart
func.func @attentions_that_drop_without_a_seed_stay_apart(%q: tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>) {
  // CHECK-COUNT-2: graph.attention
  %0, %lse_0 = graph.attention %q, %q, %q {scale = 1.0 : f64, dropout = 0.5 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %1, %lse_1 = graph.attention %q, %q, %q {scale = 1.0 : f64, dropout = 0.5 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %0, %1 : tensor<3x5x8xf32>, tensor<3x5x8xf32>
}

// CHECK-LABEL: @attentions_that_drop_nothing_are_merged
func.func @attentions_that_drop_nothing_are_merged(%q: tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>) {
  // CHECK-NEXT: %[[A:.*]], %{{.*}} = graph.attention
  // CHECK-NEXT: return %[[A]], %[[A]]
  %0, %lse_0 = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  %1, %lse_1 = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %0, %1 : tensor<3x5x8xf32>, tensor<3x5x8xf32>
}

// CHECK-LABEL: @equal_groups_are_merged
func.func @equal_groups_are_merged(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-1: graph.fusion
  // CHECK-NOT: graph.fusion
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %2 = graph.exp %a : tensor<4xf32>
    graph.yield %2 : tensor<4xf32>
  }
  %1 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %2 = graph.exp %a : tensor<4xf32>
    graph.yield %2 : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
