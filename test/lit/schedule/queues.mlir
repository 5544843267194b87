// On GPUs, collectives, transfers and messages have queues of their own, and waits order what they share.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-queues | FileCheck %s

// Each waits for the last one of another queue that it conflicts with. The second fill conflicts
// with nothing that is still running. `d` takes the bytes of `a`: its fill waits for the sum, which
// reads them. The metric waits for that fill, which implies the others.
// CHECK-LABEL: program.segment "micro"
// CHECK-NEXT: program.load_input %{{.*}} {queue = 2 : i64}
// CHECK-NEXT: program.copy {{.*}} {waits = array<i64: 0>}
// CHECK-NEXT: program.collective all_reduce {{.*}} {queue = 1 : i64, waits = array<i64: 1>}
// CHECK-NEXT: program.fill %{{[0-9]*}} with 1.000000e+00{{$}}
// CHECK-NEXT: program.fill %{{[0-9]*}} with 2.000000e+00 {waits = array<i64: 2>}
// CHECK-NEXT: program.metric "loss" %{{.*}} {queue = 2 : i64, waits = array<i64: 4>}
module attributes {program.device = "cuda"} {
  program.program arena <256 bytes, peak 256> schedule [0, 0] {
    %x = program.buffer activation "x" tensor<16xf32> at 0 bytes 64 live 0 to 5
    %a = program.buffer activation "a" tensor<16xf32> at 64 bytes 64 live 1 to 2
    %b = program.buffer activation "b" tensor<16xf32> at 128 bytes 64 live 2 to 5
    %c = program.buffer activation "c" tensor<16xf32> at 192 bytes 64 live 3 to 3
    %d = program.buffer activation "d" tensor<f32> at 64 bytes 4 live 4 to 5
    program.segment "micro" {
      program.load_input %x
      program.copy %x to %a
      program.collective all_reduce over [0] reduce 0 (%a) to (%b)
      program.fill %c with 1.0
      program.fill %d with 2.0
      program.metric "loss" %d
    }
  }
}

// -----

// Sends and receives have a queue each.
// CHECK-LABEL: program.segment "micro"
// CHECK-NEXT: program.recv over 0 peer 0{{.*}} {queue = 4 : i64}
// CHECK-NEXT: program.copy {{.*}} {waits = array<i64: 0>}
// CHECK-NEXT: program.send over 0 peer 2{{.*}} {queue = 3 : i64, waits = array<i64: 1>}
module attributes {program.device = "cuda"} {
  program.program arena <128 bytes, peak 128> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 1
    %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 1 to 2
    program.segment "micro" {
      program.recv over 0 peer 0 (%a)
      program.copy %a to %b
      program.send over 0 peer 2 (%b)
    }
  }
}

// -----

// A program for CPUs has one queue.
// CHECK-LABEL: module {
// CHECK-NOT: queue
// CHECK-NOT: waits
module {
  program.program arena <64 bytes, peak 64> schedule [0, 0] {
    %x = program.buffer activation "x" tensor<16xf32> at 0 bytes 64 live 0 to 1
    program.segment "micro" {
      program.load_input %x
      program.store_output %x
    }
  }
}
