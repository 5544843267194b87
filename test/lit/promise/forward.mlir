// One broken rule each of passes/promise/Forward.cpp; those of the signature are in import.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=forward

// P1: a gradient stop in an inference step
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{forward P1: graph.stop_gradient is left, expected none in a step of which no gradient is taken}}
  %0 = graph.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// P2: dead code
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @+1 {{forward P2: graph.exp computes what no op reads}}
  %0 = graph.exp %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
