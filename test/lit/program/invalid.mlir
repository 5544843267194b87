// Errors of the verifiers of the program dialect; constraints as numbered in
// dialects/program/ProgramOps.td. See also constraints.mlir.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// program.kernel (C3)
// expected-error @below {{result 0 lies in buffer 2 of 2}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<2 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}

// -----

// program.kernel (C5)
// expected-error @below {{operand 0 has rank 1 but its view 2 strides}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [4, 1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{operand 0 of the computation has type 'tensor<4xf32>'}}
  %0 = graph.exp %x : tensor<4xf32>
}

// -----

// program.kernel (C2)
// expected-error @below {{needs one view for every block argument and every result of its op}}
program.kernel @k on 2 operands [] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{the op has 1 operands and 1 results}}
  %0 = graph.exp %x : tensor<4xf32>
}

// -----

// program.kernel (C1)
// expected-error @below {{must hold exactly one op}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
  // expected-note @below {{the second op is here}}
  %1 = graph.exp %0 : tensor<4xf32>
}

// -----

// program.program (C1)
// expected-error @below {{has a schedule that is not a list of pairs (segment, slot)}}
program.program arena <0 bytes, peak 0> schedule [0] {
  program.segment "micro" {
  }
}

// -----

// program.program (C2)
// expected-error @below {{schedules segment 1 of 1}}
program.program arena <0 bytes, peak 0> schedule [1, 0] {
  program.segment "micro" {
  }
}

// -----

// program.program (C3)
// expected-note @below {{the arena is declared here}}
program.program arena <64 bytes, peak 64> schedule [0, 0] {
  // expected-error @below {{ends beyond the arena of 64 bytes}}
  %0 = program.buffer activation "x" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    program.fill %0 with 1.0
  }
}
