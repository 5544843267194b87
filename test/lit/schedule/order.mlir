// Ops that run earlier than in the given order.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-order | FileCheck %s

// An update runs once its gradient is there, before the next gradient is computed.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = graph.mul %arg0, %arg0
// CHECK-NEXT: graph.sub %arg1, %[[G]]
// CHECK-NEXT: %[[H:.*]] = graph.exp %arg0
// CHECK-NEXT: graph.sub %arg2, %[[H]]
func.func @step(%x: tensor<8xf32>, %p: tensor<8xf32>, %q: tensor<8xf32>)
    -> (tensor<8xf32> {graph.alias = 1 : i64}, tensor<8xf32> {graph.alias = 2 : i64}) {
  %g = graph.mul %x, %x : tensor<8xf32>
  %h = graph.exp %x : tensor<8xf32>
  %0 = graph.sub %p, %g : tensor<8xf32>
  %1 = graph.sub %q, %h : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// But not before the last reader of the old value, even of a view of it.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = graph.mul %arg0, %arg0
// CHECK: %[[T:.*]] = graph.transpose %arg1
// CHECK: %[[H:.*]] = graph.exp %[[T]]
// CHECK-NEXT: graph.sub %arg1, %[[G]]
func.func @step(%x: tensor<2x2xf32>, %p: tensor<2x2xf32>)
    -> (tensor<2x2xf32> {graph.alias = 1 : i64}, tensor<2x2xf32>) {
  %g = graph.mul %x, %x : tensor<2x2xf32>
  %t = graph.transpose %p by [1, 0] : tensor<2x2xf32> -> tensor<2x2xf32>
  %h = graph.exp %t : tensor<2x2xf32>
  %0 = graph.sub %p, %g : tensor<2x2xf32>
  return %0, %h : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A sum that is the last to read something large runs at once; what needs more memory waits for its turn.
// CHECK-LABEL: func @step
// CHECK: %[[A:.*]] = graph.exp %arg0
// CHECK-NEXT: graph.reduce sum %[[A]]
// CHECK-NEXT: graph.broadcast
func.func @step(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.broadcast %s to [] : tensor<f32> -> tensor<8xf32>
  %c = graph.reduce sum %a over [0] : tensor<8xf32> -> tensor<f32>
  return %c, %b : tensor<f32>, tensor<8xf32>
}

// -----

// What is gathered is larger than its parts: it is gathered when it is read.
// CHECK-LABEL: func @step
// CHECK: %[[X:.*]] = graph.exp %arg0
// CHECK-NEXT: %[[P:.*]] = mesh.all_gather %arg1
// CHECK-NEXT: graph.mul %[[X]], %[[P]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
func.func @step(%x: tensor<8xf32>, %p: tensor<2xf32>) -> tensor<8xf32> {
  %0 = mesh.all_gather %p dim 0 over {dp} : tensor<2xf32> -> tensor<8xf32>
  %1 = graph.exp %x : tensor<8xf32>
  %2 = graph.mul %1, %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
}
