// On GPUs, an input of a step with one micro-batch keeps its memory throughout the step, so that the input of the next step can be
// loaded as soon as this one is read.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK: program.buffer input "x" {{.*}} live 0 to 4
// CHECK: program.load_input early %{{.*}}
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<8x8xf32> {graph.name = "x", graph.role = "input"}) -> (tensor<8x8xf32> {graph.name = "y", graph.role = "output"}) {
    %a = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %y = graph.dot_general %a, %a batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}

// -----

// CHECK: program.buffer input "x" {{.*}} live 0 to 1
// CHECK-NOT: early
module {
  func.func @step(%x: tensor<8x8xf32> {graph.name = "x", graph.role = "input"}) -> (tensor<8x8xf32> {graph.name = "y", graph.role = "output"}) {
    %a = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %y = graph.dot_general %a, %a batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}

// -----

// The update reads an input that is a result of the step, so that the next one may not take its place before.
// CHECK: program.load_input early
// CHECK-NEXT: program.load_input %
// CHECK: program.segment "update"
// CHECK: program.copy
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<8x8xf32> {graph.name = "x", graph.role = "input"}, %z: tensor<8xf32> {graph.name = "z", graph.role = "input"},
                  %s: tensor<8x8xf32> {graph.name = "s", graph.role = "state"})
      -> (tensor<8x8xf32> {graph.name = "y", graph.role = "output"}, tensor<8xf32> {graph.name = "w", graph.role = "output"},
          tensor<8x8xf32> {graph.name = "s", graph.role = "state", graph.alias = 2 : i64}) {
    %y = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %t = graph.dot_general %s, %s batch [] x [] contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return %y, %z, %t : tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>
  }
}
