// A step becomes buffers of one arena and instructions on them.
// RUN: cleave-opt %s --split-input-file --cleave-fuse-groups --cleave-bufferize | FileCheck %s

// An input is loaded, a kernel computes, the output is handed out. Memory is shared where one dies as the other begins.
// CHECK: program.tensor input "x" tensor<4x8xf32>
// CHECK: program.kernel @[[K:.*]] on 2 {{.*}}bytes = 2.560000e+02{{.*}}flops = {{[1-9]}}
// CHECK: graph.exp
// CHECK: program.program arena <256 bytes, peak 256>
// CHECK: program.segment "micro"
// CHECK-NEXT: program.load_input %[[X:.*]]
// CHECK-NEXT: program.launch @[[K]](%[[X]], %{{.*}}) writes [1]
// CHECK: program.store_output
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x8xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

// A transpose is only other strides: no kernel, one matmul that reads the weight as it lies.
// CHECK-NOT: program.kernel
// CHECK: program.buffer constant "w" tensor<6x8xf32>
// CHECK-NOT: program.launch
// CHECK: program.matmul {{.*}} <1 at 0 by[1, 8]>
// CHECK-NOT: program.launch
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<6x8xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<4x6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.transpose %w by [1, 0] : tensor<6x8xf32> -> tensor<8x6xf32>
    %1 = graph.dot_general %x, %0 batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}

// -----

// A result is not written in place of a state whose reverse is read with it.
// CHECK: %[[OLD:.*]] = program.buffer state "r" tensor<16xf32>
// CHECK: %[[NEW:.*]] = program.buffer activation
// CHECK: program.launch @{{.*}}(%[[OLD]], %[[NEW]]) writes [1]
// CHECK: program.copy
module {
  func.func @step(%r: tensor<16xf32> {graph.name = "r", graph.role = "state", graph.source = {fill = 0.0 : f64}})
      -> (tensor<16xf32> {graph.name = "r", graph.role = "state", graph.alias = 0 : i64}) {
    %0 = graph.reverse %r dim 0 : tensor<16xf32>
    %1 = graph.add %r, %0 : tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}

// -----

// A new state is computed where the old one lies.
// CHECK: %[[S:.*]] = program.buffer state "s" tensor<16xf32>
// CHECK-NOT: program.buffer
// CHECK: program.launch @{{.*}}(%[[S]]) writes [0]
// CHECK-NOT: program.copy
module {
  func.func @step(%s: tensor<16xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
      -> (tensor<16xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64}) {
    %0 = graph.add %s, %s : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}

// -----

// Indices carry what they must be below to the plan's tensor.
// CHECK: program.tensor input "i" tensor<3xi64> {{.*}}vocabulary = 5
module {
  func.func @step(%t: tensor<5x2xf32> {graph.name = "t", graph.role = "constant"},
                  %i: tensor<3xi64> {graph.name = "i", graph.role = "input", graph.vocabulary = 5 : i64})
      -> (tensor<3x2xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.gather %t at %i dim 0 : tensor<5x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}
