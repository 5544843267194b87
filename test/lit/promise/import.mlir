// One broken rule each of passes/promise/Signature.cpp and passes/promise/Import.cpp.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=import

// S1: a second function
// expected-error @+1 {{import S1: the module holds 2 functions, expected @step alone with one block}}
module {
  func.func @step() { return }
  func.func @other() { return }
}

// -----
// S2: no name
// expected-error @+1 {{import S2: argument 0 has no graph.name}}
func.func @step(%x: tensor<4xf32> {graph.role = "input"}) { return }

// -----
// S2: an unknown role
// expected-error @+1 {{import S2: argument 'x' has the graph.role 'weight', expected input, label, received, parameter, state, constant or hyperparameter}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "weight"}) { return }

// -----
// S3: two inputs of one name
// expected-error @+1 {{import S3: two arguments have the name 'x'}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"},
                %y: tensor<4xf32> {graph.name = "x", graph.role = "input"}) { return }

// -----
// S4: a parameter without its first value
// expected-error @+1 {{import S4: parameter 'w' has no graph.source}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "parameter"}) { return }

// -----
// S4: a first value of no known form
// expected-error @+1 {{import S4: parameter 'w' has the graph.source {fill = 1 : i64}, expected {path, offset, bytes, element}, {fill}, {data} or {random, scale}}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 1 : i64}}) { return }

// -----
// S4: a slice of a file without its length
// expected-error @+1 {{import S4: parameter 'w' has the graph.source {element = f32, offset = 0 : i64, path = "w.bin"}, expected {path}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "parameter",
                                   graph.source = {element = f32, offset = 0 : i64, path = "w.bin"}}) { return }

// -----
// S4: a file beside no model
// expected-error @+1 {{import S4: constant 'w' is read from a file, but the module has no graph.model = {path, bytes}; compile the model again, or give the value another source, such as {fill = 0.0 : f64}}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "constant",
                                   graph.source = {bytes = 16 : i64, element = f32, offset = 0 : i64, path = "w.bin"}}) { return }

// -----
// S5: a result without a name
// expected-error @+1 {{import S5: result 0 has no graph.name}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.role = "output"}) {
  return %x : tensor<4xf32>
}

// -----
// S5: an unknown role
// expected-error @+1 {{import S5: result 'y' has the graph.role 'input', expected output, loss, metric, sent, parameter or state}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "input"}) {
  return %x : tensor<4xf32>
}

// -----
// S6: a state that replaces nothing
// expected-error @+1 {{import S6: state result 's' has no graph.alias}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "s", graph.role = "state"}) {
  return %x : tensor<4xf32>
}

// -----
// S6: an output that replaces an argument
// expected-error @+1 {{import S6: output result 'y' has a graph.alias, expected none}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output", graph.alias = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----
// S6: an argument that does not exist
// expected-error @+1 {{import S6: result 's' replaces argument 7 of 1}}
func.func @step(%s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
    -> (tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 7 : i64}) {
  return %s : tensor<4xf32>
}

// -----
// S6: an argument of another type
// expected-error @+1 {{import S6: state result 's' of type 'tensor<2xf32>' replaces the state 's' of type 'tensor<4xf32>', expected equal roles and types}}
func.func @step(%s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
    -> (tensor<2xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64}) {
  %0 = graph.slice %s dim 0 from 0 step 1 : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// S6: two new values of one state
// expected-error @+1 {{import S6: two results replace 's'}}
func.func @step(%s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
    -> (tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64},
        tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64}) {
  return %s, %s : tensor<4xf32>, tensor<4xf32>
}

// -----
// P1: an op of another dialect
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
  // expected-error @+1 {{import P1: math.exp is not an op of the graph dialect}}
  %0 = math.exp %x : tensor<4xf32>
  return
}

// -----
// P2: a kernel group
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
  // expected-error @+1 {{import P2: graph.fusion belongs to a later phase}}
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = graph.exp %a : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----
// S8: an argument with a layout
// expected-error @+1 {{import S8: argument 'x' has a layout}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) { return }

// -----
// S8: a result with a layout
// expected-error @+1 {{import S8: result 'y' has a layout}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output", mesh.sharding = #mesh.sharding<[{}]>}) {
  return %x : tensor<4xf32>
}

// -----
// S7: an element type that graph ops do not have
// expected-error @+1 {{import S7: argument 'x' has the type 'tensor<4xi4>', expected a tensor of floats (f64, f32, f16 or bf16), integers (i8 to i64, ui8 to ui64) or booleans (i1) with known dims}}
func.func @step(%x: tensor<4xi4> {graph.name = "x", graph.role = "input"}) { return }

// -----
// S7: a tensor without a rank
// expected-error @+1 {{import S7: argument 'x' has the type 'tensor<*xf32>'}}
func.func @step(%x: tensor<*xf32> {graph.name = "x", graph.role = "input"}) { return }

// -----
// S7: a dim without a number or symbol
// expected-error @+1 {{import S7: argument 'x' has the type 'tensor<?xf32>'}}
func.func @step(%x: tensor<?xf32> {graph.name = "x", graph.role = "input"}) { return }

// -----
// S7: a number that is no tensor
// expected-error @+1 {{import S7: argument 'x' has the type 'i32'}}
func.func @step(%x: i32 {graph.name = "x", graph.role = "input"}) { return }

// -----
// S7: a result of an element type that graph ops do not have
// expected-error @+1 {{import S7: result 'y' has the type 'tensor<index>'}}
func.func @step() -> (tensor<index> {graph.name = "y", graph.role = "output"}) {
  %0 = builtin.unrealized_conversion_cast to tensor<index>
  return %0 : tensor<index>
}

// -----
// S9: a hyperparameter that is no number in double precision
// expected-error @+1 {{import S9: hyperparameter 'lr' is 'tensor<f32>' with a number as graph.source, expected tensor<f64> with one}}
func.func @step(%lr: tensor<f32> {graph.name = "lr", graph.role = "hyperparameter", graph.source = {fill = 1.0 : f64}}) { return }

// -----
// S9: a hyperparameter without a value
// expected-error @+1 {{import S9: hyperparameter 'lr' is 'tensor<f64>' without a number as graph.source, expected tensor<f64> with one}}
func.func @step(%lr: tensor<f64> {graph.name = "lr", graph.role = "hyperparameter"}) { return }

// -----
// S10: an input that holds all of one that is not there
// expected-error @+1 {{import S10: label 'y/step' holds all of 'y', expected an input or label of fewer rows and otherwise its type}}
func.func @step(%all: tensor<8xi64> {graph.name = "y/step", graph.role = "label", graph.all_of = "y"}) { return }

// -----
// S10: an input whose rows are not those of several micro-batches
// expected-error @+1 {{import S10: label 'y/step' holds all of 'y', expected an input or label of fewer rows and otherwise its type}}
func.func @step(%y: tensor<3xi64> {graph.name = "y", graph.role = "label"},
                %all: tensor<8xi64> {graph.name = "y/step", graph.role = "label", graph.all_of = "y"}) { return }

// -----
// S3: two hyperparameters of one name
// expected-error @+1 {{import S3: two arguments have the name 'lr'}}
func.func @step(%a: tensor<f64> {graph.name = "lr", graph.role = "hyperparameter", graph.source = {fill = 1.0 : f64}},
                %b: tensor<f64> {graph.name = "lr", graph.role = "hyperparameter", graph.source = {fill = 1.0 : f64}}) { return }

// -----
// S11: a received value of a step that is not a stage
// expected-error @+1 {{import S11: argument 'a' is not passed to or from another stage of a graph.stage}}
func.func @step(%a: tensor<4xf32> {graph.name = "a", graph.role = "received", graph.message = "forward", graph.peer = 0 : i64}) { return }

// -----
// S11: a message from the stage itself
module attributes {graph.stage = array<i64: 1, 2>} {
// expected-error @+1 {{import S11: argument 'a' is not passed to or from another stage of a graph.stage}}
func.func @step(%a: tensor<4xf32> {graph.name = "a", graph.role = "received", graph.message = "forward", graph.peer = 1 : i64}) { return }
}

// -----
// S11: an input that is passed
// expected-error @+1 {{import S11: argument 'x' has the attributes of a message, expected none}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", graph.message = "forward", graph.peer = 0 : i64}) { return }
