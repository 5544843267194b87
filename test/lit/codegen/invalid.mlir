// Ops without a kernel.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-codegen-cpu

// expected-error @below {{computes graph.reverse, for which there is no kernel}}
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // expected-note @below {{the op is here}}
  %0 = graph.reverse %x dim 0 : tensor<4xf32>
}
