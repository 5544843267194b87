// One broken rule each of passes/promise/Primitive.cpp; those of the signature are in import.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=primitive

// P1: a composite
func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4x8xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{primitive P1: graph.softmax is left, expected the ops that it decomposes to}}
  %0 = graph.softmax %x dim 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----
// P1: attention for which programs have no kernel; in single precision they have one
func.func @step(%x: tensor<2x5x8xf32> {graph.name = "x", graph.role = "input"}, %z: tensor<2x5x8xf64> {graph.name = "z", graph.role = "input"})
    -> (tensor<2x5x8xf32> {graph.name = "y", graph.role = "output"}) {
  %y, %lse_y = graph.attention %x, %x, %x {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  // expected-error @+1 {{primitive P1: graph.attention is left, expected the ops that it decomposes to}}
  %w, %lse_w = graph.attention %z, %z, %z {scale = 1.0 : f64} : (tensor<2x5x8xf64>, tensor<2x5x8xf64>, tensor<2x5x8xf64>) -> (tensor<2x5x8xf64>, tensor<2x5xf64>)
  return %y : tensor<2x5x8xf32>
}

// -----
// P1: attention inside a kernel group
func.func @step(%x: tensor<2x5x8xf32> {graph.name = "x", graph.role = "input"}) {
  %0 = graph.fusion (%a = %x : tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>) {
    // expected-error @+1 {{primitive P1: graph.attention is left, expected the ops that it decomposes to}}
    %y, %lse = graph.attention %a, %a, %a {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
    graph.yield %y : tensor<2x5x8xf32>
  }
  return
}

// -----
// P2: a pointwise op outside of kernel groups
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{primitive P2: graph.exp is outside of kernel groups, expected it inside one}}
  %0 = graph.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// P2: a broadcast outside of kernel groups
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<2x4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{primitive P2: graph.broadcast is outside of kernel groups, expected it inside one}}
  %0 = graph.broadcast %x to [1] : tensor<4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----
// P3: a group that reads a reduction over its first dim, which is no row (G3)
func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4x8xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{primitive P3: graph.fusion is no kernel group that the rules of passes/fuse/Groups.h allow}}
  %0 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %1 = graph.reduce sum %a over [0] : tensor<4x8xf32> -> tensor<8xf32>
    %2 = graph.broadcast %1 to [1] : tensor<8xf32> -> tensor<4x8xf32>
    %3 = graph.sub %a, %2 : tensor<4x8xf32>
    graph.yield %3 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}

// -----
// P4: an op that cannot be planned
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    // expected-error @+1 {{primitive P4: mesh.all_reduce lacks a factor rule, a cost or a way to partition it}}
    %0 = mesh.all_reduce sum %x over {dp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// P5: a border of stages
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{primitive P5: graph.transfer is left, expected a message between two stages}}
  %0 = graph.transfer %x from 0 to 1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// P1: a grouped product of doubles, which only programs of CPUs have
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<6x4xf64> {graph.name = "x", graph.role = "input"}, %w: tensor<3x4x8xf64> {graph.name = "w", graph.role = "input"},
                  %e: tensor<3xi32> {graph.name = "e", graph.role = "input"}) -> (tensor<6x8xf64> {graph.name = "y", graph.role = "output"}) {
    // expected-error @+1 {{primitive P1: graph.grouped_matmul is left, expected the ops that it decomposes to}}
    %y = graph.grouped_matmul %x, %w, %e : tensor<6x4xf64>, tensor<3x4x8xf64>, tensor<3xi32> -> tensor<6x8xf64>
    return %y : tensor<6x8xf64>
  }
}
