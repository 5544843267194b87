// Every op of the program dialect reads what it prints.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK: program.tensor input "x" tensor<4x8xi64> split {{\[\[\], \[\]\]}} {vocabulary = 64 : i64}
program.tensor input "x" tensor<4x8xi64> split [[], []] {vocabulary = 64 : i64}
// CHECK: program.kernel @k on 2 operands [#program.view<0 at 0 by[1]>] results [#program.view<1 at 2 by[-1]>] extent 4
program.kernel @k on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 2 by [-1]>] extent 4 {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}

// CHECK: program.program arena <192 bytes, peak 128> schedule [0, 0, 0, 1]
program.program arena <192 bytes, peak 128> schedule [0, 0, 0, 1] {
  // CHECK: %[[A:.*]] = program.buffer input "a" tensor<4xf32> at 0 bytes 16 live 0 to 2
  %a = program.buffer input "a" tensor<4xf32> at 0 bytes 16 live 0 to 2
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 1 to 7
  // CHECK: program.segment "micro"
  program.segment "micro" {
    // CHECK-NEXT: program.load_input %[[A]]
    program.load_input %a
    // CHECK-NEXT: program.launch @k(%[[A]], %{{.*}}) writes [1]
    program.launch @k(%a, %b) writes [1]
    // CHECK-NEXT: program.matmul %[[A]] <0 at 0 by[2, 1]>, %[[A]] <1 at 0 by[1, 2]> to %{{.*}} <2 at 0 by[2, 1]> batch [] m 2 n 2 k 2
    program.matmul %a <0 at 0 by [2, 1]>, %a <1 at 0 by [1, 2]> to %b <2 at 0 by [2, 1]> batch [] m 2 n 2 k 2
    // CHECK-NEXT: program.matmul %[[A]] <0 at 0 by[2, 1]>, %[[A]] <1 at 0 by[1, 2]> to %[[B:.*]] <2 at 0 by[2, 1]> bias %[[A]] workspace %[[B]] batch [] m 2 n 2 k 2
    program.matmul %a <0 at 0 by [2, 1]>, %a <1 at 0 by [1, 2]> to %b <2 at 0 by [2, 1]> bias %a workspace %b batch [] m 2 n 2 k 2
    // CHECK-NEXT: program.collective all_reduce over [0] reduce 0(%{{.*}}) to(%{{.*}})
    program.collective all_reduce over [0] reduce 0 (%b) to (%b)
    // CHECK-NEXT: program.send over 0 peer 1(%[[A]], %[[B]])
    program.send over 0 peer 1 (%a, %b)
    // CHECK-NEXT: program.recv over 0 peer 1(%[[B]])
    program.recv over 0 peer 1 (%b)
    // CHECK-NEXT: program.copy %{{.*}} to %[[A]]
    program.copy %b to %a
    // CHECK-NEXT: program.fill %[[A]] with 1.0
    program.fill %a with 1.0
    // CHECK-NEXT: program.store_output
    program.store_output %b
    // CHECK-NEXT: program.metric "loss"
    program.metric "loss" %b
  }
}
