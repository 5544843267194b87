// One broken rule each of passes/promise/Train.cpp; those of the signature are in import.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=train

// P1: a parameter that is not trained
// expected-error @+1 {{train P1: parameter 'w' is not graph.trainable}}
func.func @step(%w: tensor<f32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.0 : f64}})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"},
        tensor<f32> {graph.name = "w", graph.role = "parameter", graph.alias = 0 : i64}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----
// P1: a trainable input
// expected-error @+1 {{train P1: input 'x' is graph.trainable, expected parameters only}}
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input", graph.trainable})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  return %x : tensor<f32>
}

// -----
// P1: a parameter without an update
// expected-error @+1 {{train P1: parameter 'w' is replaced by no result}}
func.func @step(%w: tensor<f32> {graph.name = "w", graph.role = "parameter", graph.trainable, graph.source = {fill = 0.0 : f64}})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  return %w : tensor<f32>
}

// -----
// P2: a state without a new value
// expected-error @+1 {{train P2: state 's' is replaced by no result}}
func.func @step(%s: tensor<f32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  return %s : tensor<f32>
}

// -----
// P2: a state of a parameter that does not exist
// expected-error @+1 {{train P2: state 'w/adam.m' belongs to "w", which is not a parameter}}
func.func @step(%s: tensor<f32> {graph.name = "w/adam.m", graph.role = "state", graph.parameter = "w", graph.source = {fill = 0.0 : f64}})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"},
        tensor<f32> {graph.name = "w/adam.m", graph.role = "state", graph.alias = 0 : i64}) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// -----
// P3: an output of the model
// expected-error @+1 {{train P3: result 'y' is an output, expected none}}
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.name = "y", graph.role = "output"}) {
  return %x : tensor<f32>
}

// -----
// P3: a loss of several numbers
// expected-error @+1 {{train P3: the loss has the type 'tensor<4xf32>', expected a single float}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "loss", graph.role = "loss"}) {
  return %x : tensor<4xf32>
}

// -----
// P3: no loss
// expected-error @+1 {{train P3: the step has 0 results of the role loss, expected one}}
func.func @step() { return }

// -----
// P4: a gradient stop
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  // expected-error @+1 {{train P4: graph.stop_gradient is left, expected none in a step of which no gradient is taken}}
  %0 = graph.stop_gradient %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----
// P5: a dropout without a seed
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  // expected-error @+1 {{train P5: graph.dropout drops elements, but has no seed}}
  %0 = graph.dropout %x {rate = 0.5 : f64} : tensor<f32>
  return %0 : tensor<f32>
}

// -----
// P6: sums over different numbers of micro-batches
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  %0 = graph.accumulate %x count 2 : tensor<f32>
  // expected-error @+1 {{train P6: graph.accumulate counts 3 micro-batches, another one counts 2}}
  %1 = graph.accumulate %0 count 3 : tensor<f32>
  return %1 : tensor<f32>
}

// -----
// P7: a border of a region of f32
func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
  // expected-error @+1 {{train P7: graph.enter_f32 is left, expected none after --dtype was applied}}
  %0 = graph.enter_f32 %x : tensor<f32>
  return %0 : tensor<f32>
}
