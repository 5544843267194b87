// Steps that cannot be bufferized.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-bufferize

// expected-error @below {{has no function @step to bufferize}}
module {
}

// -----

// A pointwise op outside of kernel groups.
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  // expected-error @below {{cannot be executed: it has neither an instruction nor a kernel of its own, expected it inside a kernel group}}
  %0 = graph.exp %x : tensor<4xf32>
  // expected-note @below {{its result is read here}}
  return %0 : tensor<4xf32>
}
