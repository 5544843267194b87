// The ops of the program dialect in the forms that ops.mlir does not have.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// -- logical tensors --

// CHECK: program.tensor parameter "w" tensor<8x4xf32> split {{\[}}[1], [0, 2]] {origin = {fill = 5.000000e-01 : f64}}
program.tensor parameter "w" tensor<8x4xf32> split [[1], [0, 2]] {origin = {fill = 0.5 : f64}}
// CHECK: program.tensor state "w/adam.m" tensor<8x4xf32> split {{\[}}[], []] {parameter = "w"}
program.tensor state "w/adam.m" tensor<8x4xf32> split [[], []] {parameter = "w"}
// CHECK: program.tensor input "y" tensor<8xi64> split {{\[}}[0]] {label, vocabulary = 10 : i64}
program.tensor input "y" tensor<8xi64> split [[0]] {label, vocabulary = 10 : i64}
// CHECK: program.tensor metric "loss" tensor<f32> split []
program.tensor metric "loss" tensor<f32> split []
// CHECK: program.tensor output "p" tensor<8xf32> split {{\[}}[]]
program.tensor output "p" tensor<8xf32> split [[]]

// -- kernels --

// A kernel of several results has a view for each; here the first is in the place of the operand.
// CHECK: program.kernel @sorted on 2 operands [#program.view<0 at 0 by[1]>] results [#program.view<0 at 0 by[1]>, #program.view<1 at 0 by[1]>] {
program.kernel @sorted on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<0 at 0 by [1]>, #program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  // CHECK: graph.sort
  %0, %1 = graph.sort %x dim 0 : tensor<4xf32>
}

// A view of a scalar has no strides, and the cost is part of the attributes.
// CHECK: program.kernel @scalar on 1 operands [#program.view<0 at 3>] results [#program.view<0 at 0>] extent 1 attributes {bytes = 8.000000e+00 : f64, flops = 1.000000e+00 : f64} {
program.kernel @scalar on 1 operands [#program.view<0 at 3>] results [#program.view<0 at 0>] extent 1 attributes {flops = 1.0 : f64, bytes = 8.0 : f64} {
^bb0(%x: tensor<f32>):
  %0 = graph.neg %x : tensor<f32>
}

// CHECK: program.kernel @source on 1 operands [] results [#program.view<0 at 0 by[1]>] {
program.kernel @source on 1 operands [] results [#program.view<0 at 0 by [1]>] {
  // CHECK-NEXT: graph.iota
  %0 = graph.iota dim 0 : tensor<4xi64>
}

// Strides of 0 repeat elements, those below 0 go backward.
// CHECK: program.kernel @views on 2 operands [#program.view<0 at 7 by[0, -2]>] results [#program.view<1 at 0 by[4, 1]>]
program.kernel @views on 2 operands [#program.view<0 at 7 by [0, -2]>] results [#program.view<1 at 0 by [4, 1]>] {
^bb0(%x: tensor<2x4xf32>):
  %0 = graph.exp %x : tensor<2x4xf32>
}

// -- the program: two segments, and the second runs once per step --

// CHECK: program.program arena <1024 bytes, peak 960> schedule [0, 0, 0, 1, 1, 0] attributes {name = "rank"} {
program.program arena <1024 bytes, peak 960> schedule [0, 0, 0, 1, 1, 0] attributes {name = "rank"} {
  // CHECK: program.buffer parameter "w" tensor<16xf32> at 0 bytes 64 live 0 to 9 {tensor = 0 : i64}
  %w = program.buffer parameter "w" tensor<16xf32> at 0 bytes 64 live 0 to 9 {tensor = 0 : i64}
  // CHECK: program.buffer state "s" tensor<16xf32> at 64 bytes 64 live 0 to 9 {tensor = 1 : i64}
  %s = program.buffer state "s" tensor<16xf32> at 64 bytes 64 live 0 to 9 {tensor = 1 : i64}
  // CHECK: program.buffer constant "c" tensor<16xf32> at 128 bytes 64 live 0 to 9{{ *$}}
  %c = program.buffer constant "c" tensor<16xf32> at 128 bytes 64 live 0 to 9 {tensor = -1 : i64}
  // CHECK: program.buffer gradient "g" tensor<16xf32> at 192 bytes 64 live 1 to 2
  %g = program.buffer gradient "g" tensor<16xf32> at 192 bytes 64 live 1 to 2
  // CHECK: program.buffer workspace "u" tensor<16xf32> at 256 bytes 64 live 1 to 8
  %u = program.buffer workspace "u" tensor<16xf32> at 256 bytes 64 live 1 to 8
  // CHECK: program.buffer coordinates "r" tensor<2xi64> at 320 bytes 16 live 0 to 9
  %r = program.buffer coordinates "r" tensor<2xi64> at 320 bytes 16 live 0 to 9
  // CHECK: program.buffer metric "loss" tensor<f32> at 384 bytes 4 live 8 to 9
  %l = program.buffer metric "loss" tensor<f32> at 384 bytes 4 live 8 to 9
  // CHECK: program.buffer output "p" tensor<0xf32> at 448 bytes 0 live 8 to 9
  %p = program.buffer output "p" tensor<0xf32> at 448 bytes 0 live 8 to 9
  // CHECK: program.segment "micro" {
  program.segment "micro" {
    // CHECK-NEXT: program.matmul %{{.*}} <0 at 0 by[4, 2, 1]>, %{{.*}} <1 at 0 by[0, 1, 2]> to %{{.*}} <2 at 0 by[4, 2, 1]> batch [2] m 2 n 2 k 2 {accumulate, seconds = 5.000000e-01 : f64, source = "fc1"}
    program.matmul %w <0 at 0 by [4, 2, 1]>, %c <1 at 0 by [0, 1, 2]> to %u <2 at 0 by [4, 2, 1]> batch [2] m 2 n 2 k 2 {accumulate, source = "fc1", seconds = 0.5 : f64}
    // CHECK-NEXT: program.convolution input_gradient %{{.*}} [1, 1, 4, 4], %{{.*}} [1, 1, 3, 3], %{{.*}} [1, 1, 2, 2] strides [1, 1] dilations [1, 1] pads [0, 0], [0, 0] groups 1
    program.convolution input_gradient %g [1, 1, 4, 4], %w [1, 1, 3, 3], %u [1, 1, 2, 2] strides [1, 1] dilations [1, 1] pads [0, 0], [0, 0] groups 1
    // CHECK-NEXT: program.convolution weight_gradient %{{.*}} [1, 2, 8], %{{.*}} [2, 1, 3], %{{.*}} [1, 2, 4] strides [2] dilations [1] pads [1], [0] groups 2
    program.convolution weight_gradient %g [1, 2, 8], %w [2, 1, 3], %u [1, 2, 4] strides [2] dilations [1] pads [1], [0] groups 2
    // CHECK-NEXT: program.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} grad %{{.*}} to %{{.*}}, %{{.*}}, %{{.*}} seed %{{.*}} at %{{.*}}, %{{.*}} scratch %{{.*}} views [
    // CHECK-SAME: #program.view<6 at 0 by[0, 0, 0, 1]>
    // CHECK-SAME: batch [2] heads 2 groups 1 queries 2 keys 1 width 2 depth 1 {causal, drop_rate = 1.250000e-01 : f64, fill = 0xFFF0000000000000 : f64, offset_dims = array<i64: 0, 2>, safe, scale = 5.000000e-01 : f64, whole = array<i64: 4, 2, 8, 1>}
    program.attention %w, %s, %s, %u, %u bias %c mask %c grad %u to %g, %g, %g seed %r at %r, %r scratch %u
      views [#program.view<0 at 0 by [8, 4, 2, 1]>, #program.view<1 at 0 by [2, 2, 2, 1]>, #program.view<2 at 0 by [1, 1, 1, 1]>, #program.view<3 at 0 by [4, 2, 1, 1]>, #program.view<4 at 0 by [4, 2, 1]>, #program.view<5 at 0 by [0, 0, 1, 1]>, #program.view<6 at 0 by [0, 0, 0, 1]>, #program.view<7 at 0 by [4, 2, 1, 1]>, #program.view<8 at 0 by [8, 4, 2, 1]>, #program.view<9 at 0 by [2, 2, 2, 1]>, #program.view<10 at 0 by [1, 1, 1, 1]>]
      batch [2] heads 2 groups 1 queries 2 keys 1 width 2 depth 1 {scale = 0.5, fill = 0xFFF0000000000000 : f64, causal, safe, drop_rate = 0.125, offset_dims = array<i64: 0, 2>, whole = array<i64: 4, 2, 8, 1>}
    // CHECK-NEXT: program.collective all_gather over [1] reduce 0(%{{.*}}) to(%{{.*}})
    program.collective all_gather over [1] reduce 0 (%g) to (%u)
    // CHECK-NEXT: program.collective reduce_scatter over [0, 1] reduce 1(%{{.*}}, %{{.*}}) to(%{{.*}}, %{{.*}})
    program.collective reduce_scatter over [0, 1] reduce 1 (%g, %w) to (%u, %s)
    // CHECK-NEXT: program.collective all_to_all over [0] reduce 0(%{{.*}}) to(%{{.*}})
    program.collective all_to_all over [0] reduce 0 (%g) to (%u)
    // CHECK-NEXT: program.collective permute over [0, 1] to [1, 0] reduce 0(%{{.*}}) to(%{{.*}})
    program.collective permute over [0, 1] to [1, 0] reduce 0 (%g) to (%u)
    // CHECK-NEXT: program.collective permute over [0] to [0] reversed reduce 0(%{{.*}}) to(%{{.*}})
    program.collective permute over [0] to [0] reversed reduce 0 (%g) to (%u)
    // CHECK-NEXT: program.collective all_reduce over [] reduce 2() to()
    program.collective all_reduce over [] reduce 2 () to ()
  }
  // CHECK: program.segment "update" attributes {once} {
  program.segment "update" attributes {once} {
    // CHECK-NEXT: program.launch @source(%{{.*}}) writes [0] {source = "iota"}
    program.launch @source(%r) writes [0] {source = "iota"}
    // CHECK-NEXT: program.launch @none() writes []
    program.launch @none() writes []
    // CHECK-NEXT: program.fill %{{.*}} with 0xFFF0000000000000
    program.fill %s with 0xFFF0000000000000
  }
}

// -- a program of nothing --

// CHECK: program.program arena <0 bytes, peak 0> schedule [] {
program.program arena <0 bytes, peak 0> schedule [] {
}
