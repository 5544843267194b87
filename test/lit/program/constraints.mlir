// The constraints of the program dialect, as numbered in dialects/program/ProgramOps.td. More are in
// invalid.mlir.
// RUN: cleave-opt --verify-diagnostics=only-expected --split-input-file %s

// program.kernel (C4)
// expected-error @below {{operand 0 is not a tensor of static shape}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<?xf32, #graph.dims<["batch"]>>):
  %0 = graph.exp %x : tensor<?xf32, #graph.dims<["batch"]>>
}

// -----

// program.kernel (C6)
%y = graph.constant dense<0.0> : tensor<4xf32>
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-error @below {{using value defined outside the region}}
  %0 = graph.exp %y : tensor<4xf32>
}

// -----

// program.segment (C1)
// expected-error @below {{expects parent op 'program.program'}}
program.segment "micro" {
}

// -----

// program.fill (C1)
program.program arena <64 bytes, peak 64> schedule [] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  // expected-error @below {{expects parent op 'program.segment'}}
  program.fill %a with 0.0
}

// -----

// program.matmul (C2)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<1 at 0 by[1]> of 1 strides, expected 2}}
    program.matmul %a <0 at 0 by [4, 1]>, %a <1 at 0 by [1]> to %b <2 at 0 by [4, 1]> batch [] m 4 n 4 k 4
  }
}

// -----

// program.matmul (C3)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<0 at 0 by[4, 1]> of buffer 0, expected buffer 1}}
    program.matmul %a <0 at 0 by [4, 1]>, %a <0 at 0 by [4, 1]> to %b <2 at 0 by [4, 1]> batch [] m 4 n 4 k 4
  }
}

// -----

// program.matmul (C4)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has a bias and columns 4 elements apart, expected 1}}
    program.matmul %a <0 at 0 by [4, 1]>, %a <1 at 0 by [4, 1]> to %b <2 at 0 by [1, 4]> bias %a batch [] m 4 n 4 k 4
  }
}

// -----

// program.grouped_matmul (C2)
program.program arena <192 bytes, peak 192> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %e = program.buffer activation "e" tensor<4xi32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<1 at 0 by[2, 1]>, expected 3 strides in buffer 1}}
    program.grouped_matmul %a <0 at 0 by [4, 1]>, %a <1 at 0 by [2, 1]>, %b <2 at 0 by [2, 1]> ends %e rows 3 groups 4 inputs 2 outputs 2 of 3 rows 4 groups
  }
}

// -----

// program.attention (C2)
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has 5 tensors and 4 views}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// one stride too few
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<4 at 0 by[1]> as number 4, expected 2 strides in buffer 4}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// of another buffer
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has the view #program.view<5 at 0 by[4, 1]> as number 4, expected 2 strides in buffer 4}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<5 at 0 by [4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// program.attention (C3)
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has 3 heads in 2 groups}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>] batch [] heads 3 groups 2 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// too wide
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has matrices of 4 and 512 columns, expected at most 256}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 512 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// program.attention (C4)
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{needs the gradient of the result and all three gradients, or none}}
    program.attention %a, %a, %a, %b, %c grad %b views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>, #program.view<5 at 0 by [16, 4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}
  }
}

// -----

// program.attention (C5)
program.program arena <192 bytes, peak 144> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has 0 offsets for 1 dims}}
    program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>, #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>, #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>] batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {offset_dims = array<i64: 1>, scale = 0.5, fill = -1.0e9}
  }
}

// -----

// program.convolution (C2)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has tensors of rank 3, 2 and 3, expected one rank of at least 3}}
    program.convolution forward %a [1, 1, 16], %a [1, 3], %b [1, 1, 14] strides [1] dilations [1] pads [0], [0] groups 1
  }
}

// -----

// program.convolution (C3)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{has 2 entries in a list, expected 1, one per spatial dim}}
    program.convolution forward %a [1, 1, 16], %a [1, 1, 3], %b [1, 1, 14] strides [1, 1] dilations [1] pads [0], [0] groups 1
  }
}

// -----

// program.collective (C2)
program.program arena <128 bytes, peak 128> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{sends 2 buffers and receives 1, expected pairs}}
    program.collective all_reduce over [0] reduce 0 (%a, %b) to (%a)
  }
}

// -----

// program.collective (C3)
program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer workspace "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{is of kind permute and has no axes to permute to, expected them}}
    program.collective permute over [0, 1] reduce 0 (%a) to (%a)
  }
}

// -----

// program.collective (C3)
program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer workspace "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{is of kind all_gather and has axes to permute to, expected none}}
    program.collective all_gather over [0] to [0] reduce 0 (%a) to (%a)
  }
}

// -----

// program.collective (C3)
program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer workspace "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{is of kind all_gather and reversed, which only a permute can be}}
    program.collective all_gather over [0] reversed reduce 0 (%a) to (%a)
  }
}

// -----

// program.collective (C3)
program.program arena <64 bytes, peak 64> schedule [0, 0] {
  %a = program.buffer workspace "a" tensor<4xf32> at 0 bytes 16 live 0 to 0
  program.segment "micro" {
    // expected-error @below {{permutes from positions along [0, 1] to positions along [0, 2], expected the same axes}}
    program.collective permute over [0, 1] to [0, 2] reduce 0 (%a) to (%a)
  }
}

// -----

// program.collective (C1)
program.program arena <64 bytes, peak 64> schedule [] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  // expected-error @below {{expects parent op 'program.segment'}}
  program.collective all_reduce over [0] reduce 0 (%a) to (%a)
}

// -----

// program.send (C1)
program.program arena <64 bytes, peak 64> schedule [] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  // expected-error @below {{expects parent op 'program.segment'}}
  program.send over 0 peer 1 (%a)
}

// -----

// program.recv (C1)
program.program arena <64 bytes, peak 64> schedule [] {
  %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
  // expected-error @below {{expects parent op 'program.segment'}}
  program.recv over 0 peer 1 (%a)
}
