// Further ways to break the rules of the phases: those that the files of the phases do not have.
// RUN: split-file %s %t
// RUN: cleave-opt %t/signature.mlir --split-input-file --verify-diagnostics --cleave-promise-check=phase=import
// RUN: cleave-opt %t/planned.mlir --split-input-file --verify-diagnostics --cleave-promise-check=phase=planned
// RUN: cleave-opt %t/partitioned.mlir --split-input-file --verify-diagnostics --cleave-promise-check=phase=partitioned
// RUN: cleave-opt %t/primitive.mlir --split-input-file --verify-diagnostics --cleave-promise-check=phase=primitive
// RUN: cleave-opt %t/program.mlir --split-input-file --verify-diagnostics --cleave-promise-check=phase=program

//--- signature.mlir
// S1: a function of another name
// expected-error @below {{import S1: the module holds 1 functions and no @step, expected @step alone with one block}}
module { func.func @main() { return } }

// -----
// S1: nothing at all
// expected-error @below {{import S1: the module holds 0 functions and no @step}}
module {}

// -----
// S1: a declaration has no block
// expected-error @below {{import S1: the module holds 1 functions}}
module { func.func private @step() }

// -----
// S2: no role
// expected-error @below {{import S2: argument 'x' has the graph.role '', expected input, label, received, parameter, state, constant or hyperparameter}}
func.func @step(%x: tensor<4xf32> {graph.name = "x"}) { return }

// -----
// S3: a label of the name of an input
// expected-error @below {{import S3: two arguments have the name 'x'}}
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"},
                %y: tensor<4xf32> {graph.name = "x", graph.role = "label"}) { return }

// -----
// S3: a state of the name of a parameter
// expected-error @below {{import S3: two arguments have the name 'w'}}
func.func @step(%w: tensor<4xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.0 : f64}},
                %s: tensor<4xf32> {graph.name = "w", graph.role = "state", graph.source = {fill = 0.0 : f64}}) { return }

// -----
// S4: a constant without its elements
// expected-error @below {{import S4: constant 'c' has no graph.source}}
func.func @step(%c: tensor<4xf32> {graph.name = "c", graph.role = "constant"}) { return }

// -----
// S6: a parameter replaced by a state
// expected-error @below {{import S6: state result 's' of type 'tensor<f32>' replaces the parameter 'w' of type 'tensor<f32>', expected equal roles and types}}
func.func @step(%w: tensor<f32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.0 : f64}})
    -> (tensor<f32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64}) {
  return %w : tensor<f32>
}

// -----
// P2: an op that is planned
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
    // expected-error @below {{import P2: graph.exp belongs to a later phase}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<4xf32>
    return
  }
}

//--- planned.mlir
// P2: partial sums as an argument
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{planned P2: argument 'x' has mesh.sharding #mesh.sharding<[{}], partial = sum {dp}>, which is not a layout of 'tensor<4xf32>' on the mesh}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}], partial = sum {dp}>}) { return }
}

// -----
// P2: a layout of another rank
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{planned P2: argument 'x' has mesh.sharding #mesh.sharding<[{}, {dp}]>, which is not a layout of 'tensor<4xf32>'}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {dp}]>}) { return }
}

// -----
// P2: a layout to compute in that is none
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{planned P2: argument 'x' has mesh.compute #mesh.sharding<[{tp}]>, which is not a layout of 'tensor<4xf32>' on the mesh}}
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>, mesh.compute = #mesh.sharding<[{tp}]>}) { return }
}

// -----
// P3: a factor that is not split
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @below {{planned P3: graph.reverse has a mesh.strategy that does not fit its factor rule}}
    %0 = graph.reverse %x dim 0 {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>} : tensor<4xf32>
    return
  }
}

// -----
// P3: an axis of another mesh
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}]>}) {
    // expected-error @below {{planned P3: graph.exp has no mesh.strategy on the mesh}}
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{tp}], results = [#mesh.sharding<[{tp}]>]>} : tensor<4xf32>
    return
  }
}

//--- partitioned.mlir
// P2: an argument without a layout
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{partitioned P2: argument 'x' has no mesh.global and mesh.sharding on the mesh}}
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<4xf32>}) { return }
}

// -----
// P2: a whole tensor without sizes
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{partitioned P2: argument 'x' has no mesh.global and mesh.sharding on the mesh}}
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input", mesh.global = tensor<?xf32, #graph.dims<["n"]>>, mesh.sharding = #mesh.sharding<[{dp}]>}) { return }
}

// -----
// P3: a block of another element type
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  // expected-error @below {{partitioned P3: argument 'x' has the type 'tensor<2xf16>', but a block of 'tensor<4xf32>' in the layout [dp] is 'tensor<2xf32>'}}
  func.func @step(%x: tensor<2xf16> {graph.name = "x", graph.role = "input", mesh.global = tensor<4xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}) { return }
}

// -----
// P1: a symbolic shape inside a kernel group
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() {
    %0 = graph.fusion () -> (tensor<i64>) {
      // expected-error @below {{partitioned P1: graph.iota has a result of type}}
      %1 = graph.iota dim 0 : tensor<?xi64, #graph.dims<["n"]>>
      %2 = graph.reduce sum %1 over [0] : tensor<?xi64, #graph.dims<["n"]>> -> tensor<i64>
      graph.yield %2 : tensor<i64>
    }
    return
  }
}

//--- primitive.mlir
// P1: a composite inside a kernel group
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
  %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{primitive P1: graph.relu is left, expected the ops that it decomposes to}}
    %1 = graph.relu %a : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----
// P2: a reduction and indices outside of kernel groups; constants whose elements differ are, too
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
  // expected-error @below {{primitive P2: graph.reduce is outside of kernel groups, expected it inside one}}
  %0 = graph.reduce sum %x over [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----
func.func @step() {
  // expected-error @below {{primitive P2: graph.iota is outside of kernel groups, expected it inside one}}
  %0 = graph.iota dim 0 : tensor<4xi64>
  return
}

//--- program.mlir
// P1: a function beside the program
// expected-error @below {{scheduled P1: the module holds 1 programs, expected a step first, and no function}}
module {
  func.func @step() { return }
  program.program arena <0 bytes, peak 0> schedule [] {
  }
}

// -----
// P1: two steps
module {
  program.program arena <0 bytes, peak 0> schedule [] {
  }
  // expected-error @below {{scheduled P1: two programs are the step of one rank}}
  program.program arena <0 bytes, peak 0> schedule [] {
  }
}

// -----
// P2: a buffer of what is not a tensor
program.program arena <64 bytes, peak 4> schedule [] {
  // expected-error @below {{scheduled P2: buffer 'a' has the type 'f32', expected a tensor of static shape}}
  %a = program.buffer activation "a" f32 at 0 bytes 4 live 0 to 0
}

// -----
// P2: a buffer before the arena
program.program arena <64 bytes, peak 16> schedule [0, 0] {
  // expected-error @below {{program P2: buffer 'a' begins at byte -64, expected a multiple of 64}}
  %a = program.buffer activation "a" tensor<4xf32> at -64 bytes 16 live 0 to 0
  program.segment "micro" {
    program.fill %a with 1.0
  }
}

// -----
// P2: buffers that are not placed
// expected-error @below {{program P2: a program has no arena}}
program.program schedule [] {
}

// -----
// P2: truth values take a byte each
program.program arena <64 bytes, peak 8> schedule [] {
  // expected-error @below {{scheduled P2: buffer 'a' has 1 bytes, but its tensor needs 8}}
  %a = program.buffer activation "a" tensor<8xi1> at 0 bytes 1 live 0 to 0
}

// -----
// P3: a life that ends before it begins
program.program arena <64 bytes, peak 16> schedule [0, 0] {
  // expected-error @below {{scheduled P3: buffer 'a' of role activation lives from 1 to 0 of 2 instructions}}
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 1 to 0
  program.segment "micro" {
    program.fill %a with 1.0
    program.fill %a with 1.0
  }
}

// -----
// P4: a buffer that begins inside an earlier one
program.program arena <192 bytes, peak 192> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 64 bytes 16 live 0 to 0
  // expected-error @below {{program P3: buffer 'b' shares bytes with buffer 'a' at instruction 0}}
  %b = program.buffer activation "b" tensor<32xf32> at 0 bytes 128 live 0 to 0
  program.segment "micro" {
    program.copy %a to %a
  }
}

// -----
// P5: a buffer that is an argument of the segment
program.program arena <64 bytes, peak 0> schedule [0, 0] {
  program.segment "micro" {
  ^bb0(%a: !program.buffer):
    // expected-error @below {{scheduled P4: program.fill uses what is not a buffer of the program}}
    program.fill %a with 1.0
  }
}

// -----
// P5: positions are counted over all segments
program.program arena <64 bytes, peak 16> schedule [0, 0, 1, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    program.fill %a with 1.0
  }
  program.segment "update" {
    // expected-error @below {{scheduled P4: program.fill stands at position 1, but buffer 'a' lives from 0 to 0}}
    program.fill %a with 1.0
  }
}

// -----
// P6: a launch that writes a buffer that it does not have
program.kernel @k on 1 operands [#program.view<0 at 0 by [1]>] results [#program.view<0 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}
program.program arena <64 bytes, peak 16> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{scheduled P5: program.launch writes buffer 1 of 1}}
    program.launch @k(%a) writes [1]
  }
}

// -----
// P6: a view that goes backward beyond the first element
program.kernel @k on 1 operands [#program.view<0 at 2 by [-1]>] results [#program.view<0 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}
program.program arena <64 bytes, peak 16> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{scheduled P5: program.launch has its operand 0 at #program.view<0 at 2 by[-1]> outside of buffer 'a' of 16 bytes}}
    program.launch @k(%a) writes [0]
  }
}

// -----
// P7: an output that is larger than its buffer
program.program arena <128 bytes, peak 80> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{scheduled P6: program.convolution has its output at #program.view<0 at 0 by[14, 14, 1]> outside of buffer 'b' of 16 bytes}}
    program.convolution forward %a [1, 1, 16], %b [1, 1, 3], %b [1, 1, 14] strides [1] dilations [1] pads [0], [0] groups 1
  }
}

// -----
// P9: an axis twice
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.program arena <64 bytes, peak 16> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
    program.segment "micro" {
      // expected-error @below {{scheduled P8: program.collective acts on the mesh axis 0, which does not exist or is named twice}}
      program.collective all_reduce over [0, 0] reduce 0 (%a) to (%a)
    }
  }
}

// -----
// P9: a sum that changes the number of elements
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.program arena <128 bytes, peak 24> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
    %b = program.buffer activation "b" tensor<2xf32> at 64 bytes 8 live 0 to 0
    program.segment "micro" {
      // expected-error @below {{scheduled P8: program.collective sends 4 elements among 2 ranks and receives 2, expected 4}}
      program.collective all_reduce over [0] reduce 0 (%a) to (%b)
    }
  }
}
