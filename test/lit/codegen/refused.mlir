// Kernels that have no loops on a CPU, with the place that is the reason.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-codegen-cpu

// Two reductions of one group over different dims.
program.kernel @k on 3 operands [#program.view<0 at 0 by [8, 1]>]
    results [#program.view<1 at 0 by [1]>, #program.view<2 at 0 by [1]>] {
^bb0(%x: tensor<4x8xf32>):
  %0:2 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
    // expected-note @below {{the first reduction of the group is here}}
    %1 = graph.reduce sum %a over [0] : tensor<4x8xf32> -> tensor<8xf32>
    // expected-error @below {{'graph.reduce' op reduces other dims than the rest of its group}}
    %2 = graph.reduce sum %a over [1] : tensor<4x8xf32> -> tensor<4xf32>
    graph.yield %1, %2 : tensor<8xf32>, tensor<4xf32>
  }
}

// -----

// One over a dim and one over this dim and another.
program.kernel @k on 3 operands [#program.view<0 at 0 by [8, 1]>]
    results [#program.view<1 at 0 by [1]>, #program.view<2 at 0>] {
^bb0(%x: tensor<4x8xf32>):
  %0:2 = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<8xf32>, tensor<f32>) {
    // expected-note @below {{the first reduction of the group is here}}
    %1 = graph.reduce sum %a over [0] : tensor<4x8xf32> -> tensor<8xf32>
    // expected-error @below {{reduces other dims than the rest of its group}}
    %2 = graph.reduce sum %a over [0, 1] : tensor<4x8xf32> -> tensor<f32>
    graph.yield %1, %2 : tensor<8xf32>, tensor<f32>
  }
}

// -----

// A matrix that is added to its transpose: rows and columns would be one loop.
program.kernel @k on 2 operands [#program.view<0 at 0 by [4, 1]>] results [#program.view<1 at 0 by [4, 1]>] {
^bb0(%x: tensor<4x4xf32>):
  // expected-error @below {{'graph.fusion' op has a value with two dims of one factor}}
  %0 = graph.fusion (%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %1 = graph.transpose %a by [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = graph.add %a, %1 : tensor<4x4xf32>
    graph.yield %2 : tensor<4x4xf32>
  }
}

// -----

// An instruction of the program, which is no kernel.
// expected-error @below {{computes graph.dot_general, for which there is no kernel}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [4, 1]>, #program.view<0 at 0 by [4, 1]>]
    results [#program.view<1 at 0 by [4, 1]>] {
^bb0(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>):
  // expected-note @below {{the op is here}}
  %0 = graph.dot_general %x, %y batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
}

// -----

// A pointwise op that is in no group.
// expected-error @below {{computes graph.exp, for which there is no kernel}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{the op is here}}
  %0 = graph.exp %x : tensor<4xf32>
}
