// Ops of the forward part that are recomputed for the backward part.
// RUN: cleave-opt %s --split-input-file --cleave-remat-realise | FileCheck %s

// The forward part keeps the first result; the backward part reads a second one that is made before
// its first reader.
// CHECK-LABEL: func @step
// CHECK: %[[FIRST:.*]] = graph.exp %{{.*}} : tensor<4x4xf32>
// CHECK-NEXT: graph.reduce sum %[[FIRST]]
// CHECK: %[[RECOMPUTED:.*]] = graph.exp %{{.*}} {graph.recomputed = 1 : i64}
// CHECK-NEXT: graph.dot_general %{{.*}}, %[[RECOMPUTED]]
func.func @step(%x: tensor<4x4xf32> {graph.role = "input"}, %w: tensor<4x4xf32> {graph.role = "parameter"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4x4xf32> {graph.role = "metric"}) {
  %h = graph.add %x, %w : tensor<4x4xf32>
  %e = graph.exp %h {graph.remat = "recompute"} : tensor<4x4xf32>
  %l = graph.reduce sum %e over [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %n = graph.neg %x : tensor<4x4xf32>
  %g = graph.dot_general %n, %e batch [] x [] contract [0] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %g : tensor<f32>, tensor<4x4xf32>
}

// -----

// A chain: the recomputed op reads its recomputed operand.
// CHECK-LABEL: func @step
// CHECK: graph.reduce
// CHECK: %[[SUM:.*]] = graph.add %{{.*}} {graph.recomputed = 1 : i64}
// CHECK-NEXT: %[[RECOMPUTED:.*]] = graph.exp %[[SUM]] {graph.recomputed = 1 : i64}
// CHECK-NEXT: graph.neg %[[RECOMPUTED]]
func.func @step(%x: tensor<4xf32> {graph.role = "input"}, %w: tensor<4xf32> {graph.role = "parameter"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4xf32> {graph.role = "metric"}) {
  %h = graph.add %x, %w {graph.remat = "recompute"} : tensor<4xf32>
  %e = graph.exp %h {graph.remat = "recompute"} : tensor<4xf32>
  %l = graph.reduce sum %e over [0] : tensor<4xf32> -> tensor<f32>
  %g = graph.neg %e : tensor<4xf32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}

// -----

// A result of the step is there anyway.
// CHECK-LABEL: func @step
// CHECK-NOT: graph.recomputed
// CHECK-NOT: graph.remat
func.func @step(%x: tensor<4xf32> {graph.role = "input"})
    -> (tensor<4xf32> {graph.role = "output"}, tensor<4xf32> {graph.role = "metric"}) {
  %e = graph.exp %x {graph.remat = "recompute"} : tensor<4xf32>
  %g = graph.neg %e : tensor<4xf32>
  return %e, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// A group keeps its sum; the recomputed group computes the exponential from it, and not the sum.
// CHECK-LABEL: func @step
// CHECK: %[[FIRST:.*]]:2 = graph.fusion
// CHECK: graph.neg
// CHECK: %[[RECOMPUTED:.*]] = graph.fusion (%[[IN:.*]] = %[[FIRST]]#0 : tensor<4x4xf32>)
// CHECK-NOT: graph.add
// CHECK: graph.exp %[[IN]]
// CHECK: } {graph.recomputed = 1 : i64}
// CHECK-NEXT: graph.dot_general %{{.*}}, %[[RECOMPUTED]]
func.func @step(%x: tensor<4x4xf32> {graph.role = "input"}, %w: tensor<4x4xf32> {graph.role = "parameter"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4x4xf32> {graph.role = "metric"}, tensor<4x4xf32> {graph.role = "metric"}) {
  %h = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s, %e = graph.fusion (%a = %h : tensor<4x4xf32>, %b = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %1 = graph.add %a, %b : tensor<4x4xf32>
    %2 = graph.exp %1 : tensor<4x4xf32>
    graph.yield %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  } {graph.remat = "from_kept"}
  %q = graph.dot_general %s, %e batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %l = graph.reduce sum %q over [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %n = graph.neg %s : tensor<4x4xf32>
  %g = graph.dot_general %n, %e batch [] x [] contract [0] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %n, %g : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Sorted values are kept for an op that is recomputed first; the sort is recomputed for its indices
// only where these are read, and its values are read from there on.
// CHECK-LABEL: func @step
// CHECK: %[[FIRST:.*]], %{{.*}} = graph.sort
// CHECK: graph.exp %[[FIRST]]
// CHECK: graph.reduce
// CHECK: %[[EXP:.*]] = graph.exp %[[FIRST]] {graph.recomputed = 1 : i64}
// CHECK-NEXT: graph.neg %[[EXP]]
// CHECK-NEXT: graph.abs %[[FIRST]]
// CHECK-NEXT: %[[RECOMPUTED:.*]], %[[INDICES:.*]] = graph.sort %{{.*}} {graph.recomputed = 1 : i64}
// CHECK-NEXT: graph.cast %[[INDICES]]
// CHECK-NEXT: graph.mul %{{.*}}, %[[RECOMPUTED]]
func.func @step(%x: tensor<4xf32> {graph.role = "input"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4xf32> {graph.role = "metric"}, tensor<4xf32> {graph.role = "metric"},
        tensor<4xf32> {graph.role = "metric"}) {
  %v, %i = graph.sort %x dim 0 {graph.remat = "from_kept"} : tensor<4xf32>
  %e = graph.exp %v {graph.remat = "recompute"} : tensor<4xf32>
  %l = graph.reduce sum %e over [0] : tensor<4xf32> -> tensor<f32>
  %n = graph.neg %e : tensor<4xf32>
  %a = graph.abs %v : tensor<4xf32>
  %c = graph.cast %i : tensor<4xi64> -> tensor<4xf32>
  %m = graph.mul %c, %v : tensor<4xf32>
  return %l, %n, %a, %m : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The new value of a state is computed before the group, whose recomputation would have to stand
// before both.
// CHECK-LABEL: func @step
// CHECK-NOT: graph.recomputed
// CHECK: return
func.func @step(%x: tensor<4xf32> {graph.role = "input"}, %s: tensor<4xf32> {graph.role = "state"})
    -> (tensor<f32> {graph.role = "loss"}, tensor<4xf32> {graph.role = "metric"},
        tensor<4xf32> {graph.role = "state", graph.alias = 1 : i64}) {
  %next = graph.neg %s : tensor<4xf32>
  %h, %e = graph.fusion (%a = %x : tensor<4xf32>, %b = %s : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = graph.add %a, %b : tensor<4xf32>
    %2 = graph.exp %1 : tensor<4xf32>
    graph.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  } {graph.remat = "from_kept"}
  %l = graph.reduce sum %e over [0] : tensor<4xf32> -> tensor<f32>
  %g = graph.mul %h, %e : tensor<4xf32>
  return %l, %g, %next : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
