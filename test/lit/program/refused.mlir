// Errors of the verifiers of the program dialect beyond one per constraint (constraints.mlir,
// invalid.mlir): results as well as operands, and the other branches of each rule.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// -- kernels --

// expected-error @below {{operand 0 lies in buffer -1 of 1}}
program.kernel @no_view_lies_before_the_first_buffer on 1 operands [#program.view<-1 at 0 by [1]>] results [#program.view<0 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 has rank 0 but its view 1 strides}}
program.kernel @a_view_of_a_scalar_has_no_strides on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{result 0 of the computation has type 'tensor<f32>'}}
  %0 = graph.reduce sum %x over [0] : tensor<4xf32> -> tensor<f32>
}

// -----

// expected-error @below {{result 0 is not a tensor of static shape}}
program.kernel @a_result_has_a_static_shape on 1 operands [] results [#program.view<0 at 0 by [1]>] {
  %0 = graph.iota dim 0 : tensor<?xi64, #graph.dims<["n"]>>
}

// -----

// expected-error @below {{operand 0 is not a tensor of static shape}}
program.kernel @an_operand_is_a_tensor on 2 operands [#program.view<0 at 0>] results [] {
^bb0(%x: f32):
  func.func @nothing() { return }
}

// -----

// expected-error @below {{needs one view for every block argument and every result of its op}}
program.kernel @every_result_has_a_view on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{the op has 1 operands and 2 results}}
  %0, %1 = graph.sort %x dim 0 : tensor<4xf32>
}

// -----

// expected-error @below {{must hold exactly one op}}
program.kernel @a_kernel_computes_something on 1 operands [] results [] {
^bb0:
}

// -----

// expected-error @below {{attribute 'operands' failed to satisfy constraint}}
"program.kernel"() <{sym_name = "views_are_views", buffers = 1 : i64, operands = [0], results = []}> ({
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}) : () -> ()

// -- programs --

// -----

// A segment is counted among segments, not among all ops of the body.
// expected-error @below {{schedules segment 1 of 1}}
program.program arena <64 bytes, peak 64> schedule [0, 0, 1, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    program.fill %a with 0.0
  }
}

// -----

// expected-error @below {{schedules segment -1 of 1}}
program.program arena <64 bytes, peak 64> schedule [-1, 0] {
  program.segment "micro" {
  }
}

// -----

// expected-note @below {{the arena is declared here}}
program.program arena <63 bytes, peak 63> schedule [] {
  // expected-error @below {{ends beyond the arena of 63 bytes}}
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
}

// -----

program.program arena <64 bytes, peak 64> schedule [] {
  // expected-error @+2 {{expected one of output, metric, input, parameter, state, constant, hyperparameter, activation, gradient, workspace, coordinates}}
  // expected-error @below {{failed to parse Program_RoleAttr}}
  %a = program.buffer weight "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
}

// -- instructions --

// -----

program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<0 at 0 by[4, 1]> of 2 strides, expected 3}}
    program.matmul %a <0 at 0 by [4, 1]>, %a <1 at 0 by [4, 1]> to %a <2 at 0 by [4, 1]> batch [2] m 4 n 4 k 4
  }
}

// -----

program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<1 at 0 by[4, 1]> of buffer 1, expected buffer 2}}
    program.matmul %a <0 at 0 by [4, 1]>, %a <1 at 0 by [4, 1]> to %a <1 at 0 by [4, 1]> batch [] m 4 n 4 k 4
  }
}

// -----

program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has tensors of rank 2, 2 and 2, expected one rank of at least 3}}
    program.convolution forward %a [1, 1], %a [1, 1], %a [1, 1] strides [] dilations [] pads [], [] groups 1
  }
}

// -----

program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has 0 entries in a list, expected 1, one per spatial dim}}
    program.convolution forward %a [1, 1, 16], %a [1, 1, 3], %a [1, 1, 14] strides [1] dilations [1] pads [0], [] groups 1
  }
}

// -----

program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{sends 0 buffers and receives 1, expected pairs}}
    program.collective all_gather over [0] reduce 0 () to (%a)
  }
}

// -----

// expected-error @below {{expects parent op 'program.segment'}}
program.launch @k() writes []
