// Which ops free memory, and which only seem to.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-order | FileCheck %s

// An op that takes as much as it frees keeps its place.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp %arg0
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.neg
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.neg %a : tensor<8xf32>
  return %c, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A sum does not free what the step returns.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp %arg0
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.reduce
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %a over [0] : tensor<8xf32> -> tensor<f32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<f32>
}

// -----

// A sum does not free an argument.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.neg
// CHECK-NEXT: graph.reduce
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  %a = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %b = graph.neg %a : tensor<8xf32>
  %c = graph.reduce sum %x over [0] : tensor<8xf32> -> tensor<f32>
  return %b, %c : tensor<8xf32>, tensor<f32>
}

// -----

// A value with two readers is freed by the second: it runs at once, the first in its turn.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[A:.*]] = graph.exp %arg0
// CHECK-NEXT: graph.reduce max %[[A]]
// CHECK-NEXT: graph.reduce sum %[[A]]
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>, tensor<f32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.reduce max %a over [0] : tensor<8xf32> -> tensor<f32>
  %c = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %d = graph.reduce sum %a over [0] : tensor<8xf32> -> tensor<f32>
  return %b, %c, %d : tensor<f32>, tensor<8xf32>, tensor<f32>
}

// -----

// An op that reads a value twice frees it once, which pays for no result of that size.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp %arg0
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.mul
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.mul %a, %a : tensor<8xf32>
  return %c, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// An op that frees two values at once is worth a result as large as one of them.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[A:.*]] = graph.exp %arg0
// CHECK-NEXT: %[[B:.*]] = graph.log %arg0
// CHECK-NEXT: graph.mul %[[A]], %[[B]]
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.log %x : tensor<8xf32>
  %c = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %d = graph.mul %a, %b : tensor<8xf32>
  return %c, %d : tensor<8xf32>, tensor<8xf32>
}

// -----

// A reader of a view frees what the view shows.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[A:.*]] = graph.exp %arg0
// CHECK-NEXT: %[[V:.*]] = graph.reshape %[[A]]
// CHECK-NEXT: graph.reduce sum %[[V]]
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<2x4xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<2x4xf32>
  %v = graph.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %v over [0] : tensor<8xf32> -> tensor<f32>
  return %c, %b : tensor<f32>, tensor<8xf32>
}

// -----

// A sum of a view frees nothing while the viewed value is still read.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp %arg0
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.reduce
func.func @step(%x: tensor<2x4xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>, tensor<2x4xf32>) {
  %a = graph.exp %x : tensor<2x4xf32>
  %v = graph.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %v over [0] : tensor<8xf32> -> tensor<f32>
  return %c, %b, %a : tensor<f32>, tensor<8xf32>, tensor<2x4xf32>
}

// -----

// A constant with equal elements takes no memory, so its last reader frees none.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.reduce
func.func @step(%s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %a = graph.constant dense<1.0> : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %a over [0] : tensor<8xf32> -> tensor<f32>
  return %c, %b : tensor<f32>, tensor<8xf32>
}

// -----

// An early op may make the next one worthwhile: the chain runs to its end.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.reduce sum {{.*}} -> tensor<2xf32>
// CHECK-NEXT: graph.reduce sum {{.*}} -> tensor<f32>
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<2x4xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<2x4xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %a over [1] : tensor<2x4xf32> -> tensor<2xf32>
  %d = graph.reduce sum %c over [0] : tensor<2xf32> -> tensor<f32>
  return %d, %b : tensor<f32>, tensor<8xf32>
}

// -----

// An update that alone reads its old value runs as soon as its gradient is there.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[G:.*]] = graph.exp %arg0
// CHECK-NEXT: graph.sub %arg1, %[[G]]
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<8xf32>, %p: tensor<8xf32>, %s: tensor<f32>)
    -> (tensor<8xf32> {graph.alias = 1 : i64}, tensor<8xf32>) {
  %g = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %0 = graph.sub %p, %g : tensor<8xf32>
  return %0, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A result that replaces no argument is no update.
// CHECK-LABEL: func @step
// CHECK-NEXT: graph.exp %arg0
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.sub
func.func @step(%x: tensor<8xf32>, %p: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %g = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %0 = graph.sub %p, %g : tensor<8xf32>
  return %0, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A function that is no step keeps its order.
// CHECK-LABEL: func @other
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.broadcast
// CHECK-NEXT: graph.reduce
func.func @other(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %a over [0] : tensor<8xf32> -> tensor<f32>
  return %c, %b : tensor<f32>, tensor<8xf32>
}

// -----

// Ops that run once per step stand behind those that run once per micro-batch, even those that
// would free memory before.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[A:.*]] = graph.exp %arg0
// CHECK-NEXT: %[[S:.*]] = graph.accumulate %[[A]]
// CHECK-NEXT: %[[B:.*]] = graph.neg %arg0
// CHECK-NEXT: %[[T:.*]] = graph.accumulate %[[B]]
// CHECK-NEXT: graph.add %arg1, %[[S]]
// CHECK-NEXT: graph.add %arg2, %[[T]]
func.func @step(%x: tensor<8xf32> {graph.role = "input", graph.name = "x"},
                %v: tensor<8xf32> {graph.role = "parameter", graph.name = "v"},
                %w: tensor<8xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<8xf32> {graph.role = "parameter", graph.name = "v", graph.alias = 1 : i64},
        tensor<8xf32> {graph.role = "parameter", graph.name = "w", graph.alias = 2 : i64}) {
  %a = graph.exp %x : tensor<8xf32>
  %s = graph.accumulate %a count 2 : tensor<8xf32>
  %c = graph.add %v, %s : tensor<8xf32>
  %b = graph.neg %x : tensor<8xf32>
  %t = graph.accumulate %b count 2 : tensor<8xf32>
  %d = graph.add %w, %t : tensor<8xf32>
  return %c, %d : tensor<8xf32>, tensor<8xf32>
}
