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

// -----

// Ops of two parts of the step in a mixed order.
func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<4x4xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"},
        tensor<4x4xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 1 : i64}) {
  %0 = graph.dot_general %w, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  // expected-error @below {{stands behind an op of a later part of the step, which may run less often; order the step before}}
  %1 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %1, %0 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Roles that do not exist, or that an argument or result cannot have, are not guessed.
// expected-error @below {{argument 'w' has the graph.role 'weight', expected input, label, received, parameter, state, constant or hyperparameter}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "weight"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{argument 'w' has the graph.role 'loss', expected input, label, received, parameter, state, constant or hyperparameter}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "loss"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{result 'y' has the graph.role '', expected output, loss, metric, sent, parameter or state}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "constant"})
    -> (tensor<4xf32> {graph.name = "y"}) {
  return %w : tensor<4xf32>
}
