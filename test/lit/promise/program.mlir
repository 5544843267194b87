// One broken rule each of passes/promise/Program.cpp.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=program

// P1: the step is left
// expected-error @+1 {{scheduled P1: the module holds 0 programs, expected a step first, and no function}}
module {
  func.func @step() { return }
}

// -----
// P2: an offset that is not aligned
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  // expected-error @+1 {{program P2: buffer 'a' begins at byte 32, expected a multiple of 64}}
  %a = program.buffer activation "a" tensor<4xf32> at 32 bytes 16 live 0 to 0
  program.segment "micro" {
    program.fill %a with 1.0
  }
}

// -----
// P2: fewer bytes than elements
program.program arena <192 bytes, peak 8> schedule [0, 0] {
  // expected-error @+1 {{scheduled P2: buffer 'a' has 8 bytes, but its tensor needs 16}}
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 8 live 0 to 0
  program.segment "micro" {
    program.fill %a with 1.0
  }
}

// -----
// P3: a life beyond the last instruction
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  // expected-error @+1 {{scheduled P3: buffer 'a' of role activation lives from 0 to 1 of 1 instructions}}
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 1
  program.segment "micro" {
    program.fill %a with 1.0
  }
}

// -----
// P3: an input that is loaded during the step before, into bytes that it does not keep
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  // expected-error @+1 {{scheduled P3: buffer 'x' of role input lives from 0 to 0 of 2 instructions}}
  %x = program.buffer input "x" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %a = program.buffer activation "a" tensor<4xf32> at 64 bytes 16 live 1 to 1
  program.segment "micro" {
    program.load_input early %x
    program.fill %a with 1.0
  }
}

// -----
// P3: a state that dies
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  // expected-error @+1 {{scheduled P3: buffer 's' of role state lives from 0 to 0 of 2 instructions}}
  %s = program.buffer state "s" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    program.fill %s with 1.0
    program.fill %s with 1.0
  }
}

// -----
// P4: two buffers in one place at one time
program.program arena <192 bytes, peak 512> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<32xf32> at 0 bytes 128 live 0 to 1
  // expected-error @+1 {{program P3: buffer 'b' shares bytes with buffer 'a' at instruction 1}}
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 1 to 1
  program.segment "micro" {
    program.fill %a with 1.0
    program.fill %b with 1.0
  }
}

// -----
// P5: a buffer after its last instruction
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    program.fill %a with 1.0
    // expected-error @+1 {{scheduled P4: program.fill stands at position 1, but buffer 'a' lives from 0 to 0}}
    program.fill %a with 1.0
  }
}

// -----
// P6: a kernel that does not exist
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P5: program.launch names the kernel @k, which does not exist}}
    program.launch @k(%a) writes [0]
  }
}

// -----
// P6: one buffer for a kernel of two
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}
program.program arena <192 bytes, peak 16> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P5: program.launch has 1 buffers, but @k has 2}}
    program.launch @k(%a) writes [0]
  }
}

// -----
// P6: a kernel that writes beyond the end of its buffer
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 1 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}
program.program arena <192 bytes, peak 32> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P5: program.launch has its result 0 at #program.view<1 at 1 by[1]> outside of buffer 'b' of 16 bytes}}
    program.launch @k(%a, %b) writes [1]
  }
}

// -----
// P7: a matrix that is larger than its buffer
program.program arena <192 bytes, peak 32> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P6: program.matmul has its lhs at #program.view<0 at 0 by[3, 1]> outside of buffer 'a' of 16 bytes}}
    program.matmul %a <0 at 0 by [3, 1]>, %a <1 at 0 by [1, 2]> to %b <2 at 0 by [2, 1]> batch [] m 2 n 2 k 2
  }
}

// -----
// P7: a bias that is shorter than a row
program.program arena <192 bytes, peak 36> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
  %c = program.buffer activation "c" tensor<1xf32> at 128 bytes 4 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P6: program.matmul has its bias at #program.view<0 at 0 by[1]> outside of buffer 'c' of 4 bytes}}
    program.matmul %a <0 at 0 by [2, 1]>, %a <1 at 0 by [2, 1]> to %b <2 at 0 by [2, 1]> bias %c batch [] m 2 n 2 k 2
  }
}

// -----
// P7: a bias of another type than the result
program.program arena <192 bytes, peak 36> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
  %c = program.buffer activation "c" tensor<2xbf16> at 128 bytes 4 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P6: program.matmul has a bias of 'bf16', expected 'f32'}}
    program.matmul %a <0 at 0 by [2, 1]>, %a <1 at 0 by [2, 1]> to %b <2 at 0 by [2, 1]> bias %c batch [] m 2 n 2 k 2
  }
}

// -----
// P7: keys of an attention that end outside of their buffer
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P6: program.attention has its tensor 1 at #program.view<1 at 1 by[16, 4, 1]> outside of buffer 'a' of 64 bytes}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 1 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----
// P8: a copy between buffers of different sizes
program.program arena <192 bytes, peak 48> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  %b = program.buffer activation "b" tensor<8xf32> at 64 bytes 32 live 0 to 0
  program.segment "micro" {
    // expected-error @+1 {{scheduled P7: program.copy copies 16 bytes to 32}}
    program.copy %a to %b
  }
}

// -----
// P9: an axis that the mesh does not have
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.program arena <192 bytes, peak 16> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
    program.segment "micro" {
      // expected-error @+1 {{scheduled P8: program.collective acts on the mesh axis 1, which does not exist or is named twice}}
      program.collective all_reduce over [1] reduce 0 (%a) to (%a)
    }
  }
}

// -----
// P9: four elements gathered from two ranks are eight
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.program arena <192 bytes, peak 32> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
    %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 0
    program.segment "micro" {
      // expected-error @+1 {{scheduled P8: program.collective sends 4 elements among 2 ranks and receives 4, expected 8}}
      program.collective all_gather over [0] reduce 0 (%a) to (%b)
    }
  }
}

// -----
// P1: an evaluation alone
// expected-error @+1 {{scheduled P1: the module holds 1 programs, expected a step first, and no function}}
module {
  program.program arena <0 bytes, peak 0> schedule [] of evaluation {
  }
}

// -----
// P1: two steps of rank 1; those of ranks 0 and 2 are apart
program.program arena <0 bytes, peak 0> schedule [] ranks [0, 1] {
}
// expected-error @+1 {{scheduled P1: two programs are the step of one rank}}
program.program arena <0 bytes, peak 0> schedule [] ranks [1, 2] {
}

// -----
// P10: an evaluation that has a state at another place than the step
program.tensor state "s" tensor<16xf32> split [[]] {origin = {fill = 0.0 : f64}}
program.program arena <128 bytes, peak 64> schedule [] ranks [0] {
  %s = program.buffer state "s" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = 0 : i64}
}
program.program arena <128 bytes, peak 64> schedule [] of evaluation {
  // expected-error @+1 {{program P4: buffer 's' is not at the place of buffer 's' of the step}}
  %s = program.buffer state "s" tensor<16xf32> at 64 bytes 64 live 0 to 0 {tensor = 0 : i64}
}

// -----
// P10: an evaluation whose buffers could overwrite a state of the step
program.tensor state "s" tensor<16xf32> split [[]] {origin = {fill = 0.0 : f64}}
program.program arena <128 bytes, peak 64> schedule [] {
  %s = program.buffer state "s" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = 0 : i64}
}
// expected-error @+1 {{program P4: a program has 0 persistent buffers, the step has 1}}
program.program arena <128 bytes, peak 64> schedule [] of evaluation {
}

// -----
// P11: a tensor whose model file was lost
// expected-error @+1 {{scheduled P9: parameter 'w' is read from a file, but the module has no graph.model}}
program.tensor parameter "w" tensor<4xf32> split [[]] {origin = {bytes = 16 : i64, element = f32, offset = 0 : i64, path = ""}}
program.program arena <192 bytes, peak 16> schedule [] {
}

// -----
// P11: a state that begins with nothing
// expected-error @+1 {{scheduled P9: state 's' has no graph.source}}
program.tensor state "s" tensor<4xf32> split [[]]
program.program arena <192 bytes, peak 16> schedule [] {
}
