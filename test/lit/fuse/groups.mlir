// Kernel groups: ops that become one kernel.
// RUN: cleave-opt %s --split-input-file --cleave-fuse-groups | FileCheck %s

// A pointwise chain is one group, what is broadcast into it stays outside as it is.
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]] = graph.fusion (%{{.*}} = %arg0 : tensor<4x8xf32>, %{{.*}} = %arg1 : tensor<8xf32>)
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.yield
// CHECK: return %[[R]]
func.func @step(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = graph.broadcast %b to [1] : tensor<8xf32> -> tensor<4x8xf32>
  %1 = graph.add %x, %0 : tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A reduction over rows and what uses it run in one kernel.
// CHECK-LABEL: func @step
// CHECK-COUNT-1: graph.fusion
// CHECK: graph.reduce sum
// CHECK: graph.broadcast
// CHECK: graph.div
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce sum %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.broadcast %0 to [0] : tensor<4xf32> -> tensor<4x8xf32>
  %2 = graph.div %x, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A reduction over the batch ends its group, so that the batch can still be split over ranks.
// CHECK-LABEL: func @step
// CHECK: graph.fusion
// CHECK: graph.reduce sum
// CHECK: graph.yield
// CHECK: graph.fusion
// CHECK: graph.sub
// CHECK: graph.yield
// CHECK: return
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce sum %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = graph.broadcast %0 to [1] : tensor<8xf32> -> tensor<4x8xf32>
  %2 = graph.sub %x, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A matmul belongs to no group; what stands before and after it are two.
// CHECK-LABEL: func @step
// CHECK: %[[A:.*]] = graph.fusion
// CHECK: graph.neg
// CHECK: %[[D:.*]] = graph.dot_general %[[A]]
// CHECK: graph.fusion (%{{.*}} = %[[D]]
// CHECK: graph.tanh
// CHECK: return
func.func @step(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.neg %x : tensor<4x4xf32>
  %1 = graph.dot_general %0, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = graph.tanh %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Counters wait for nothing: one kernel counts them all.
// CHECK-LABEL: func @step
// CHECK: %[[C:.*]]:2 = graph.fusion
// CHECK-COUNT-2: graph.add
// CHECK-NOT: graph.fusion
// CHECK: return %[[C]]#0, %[[C]]#1
func.func @step(%a: tensor<i64>, %b: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.add %a, %one : tensor<i64>
  %1 = graph.add %b, %one : tensor<i64>
  return %0, %1 : tensor<i64>, tensor<i64>
}

// -----

// What one group only recomputes makes it a reader, too: both sums take one pass over %x.
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]]:2 = graph.fusion
// CHECK: graph.reduce max
// CHECK: graph.reduce sum
// CHECK: graph.fusion
// CHECK-NOT: graph.fusion
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @step(%x: tensor<16x40000xf32>, %l: tensor<16xi64>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x40000xf32>) {
  %largest = graph.reduce max %x over [1] : tensor<16x40000xf32> -> tensor<16xf32>
  %classes = graph.iota dim 1 : tensor<16x40000xi64>
  %labels = graph.broadcast %l to [0] : tensor<16xi64> -> tensor<16x40000xi64>
  %is = graph.compare eq %classes, %labels : tensor<16x40000xi64>
  %zero = graph.constant dense<0.0> : tensor<16x40000xf32>
  %chosen = graph.select %is, %x, %zero : tensor<16x40000xi1>, tensor<16x40000xf32>
  %picked = graph.reduce sum %chosen over [1] : tensor<16x40000xf32> -> tensor<16xf32>
  %one = graph.cast %is : tensor<16x40000xi1> -> tensor<16x40000xf32>
  %y = graph.add %x, %one : tensor<16x40000xf32>
  return %largest, %picked, %y : tensor<16xf32>, tensor<16xf32>, tensor<16x40000xf32>
}
