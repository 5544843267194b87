// On GPUs, launches of one kernel become one launch if it reads and writes 8 MiB at most (SharedLaunches.h).
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// CHECK: program.kernel @[[BOTH:.*]] on 4 instances 2 operands
// CHECK: program.launch @[[BOTH]](
// CHECK-NOT: program.launch
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<1048576xf32> {graph.name = "x", graph.role = "input"}, %y: tensor<1048576xf32> {graph.name = "y", graph.role = "input"})
      -> (tensor<1048576xf32> {graph.name = "a", graph.role = "output"}, tensor<1048576xf32> {graph.name = "b", graph.role = "output"}) {
    %0 = graph.fusion (%i = %x : tensor<1048576xf32>) -> (tensor<1048576xf32>) {
      %2 = graph.exp %i : tensor<1048576xf32>
      graph.yield %2 : tensor<1048576xf32>
    }
    %1 = graph.fusion (%i = %y : tensor<1048576xf32>) -> (tensor<1048576xf32>) {
      %2 = graph.exp %i : tensor<1048576xf32>
      graph.yield %2 : tensor<1048576xf32>
    }
    return %0, %1 : tensor<1048576xf32>, tensor<1048576xf32>
  }
}

// -----

// CHECK: program.kernel @[[ONE:.*]] on 2 operands
// CHECK-COUNT-2: program.launch @[[ONE]](
module attributes {program.device = "cuda"} {
  func.func @step(%x: tensor<1048832xf32> {graph.name = "x", graph.role = "input"}, %y: tensor<1048832xf32> {graph.name = "y", graph.role = "input"})
      -> (tensor<1048832xf32> {graph.name = "a", graph.role = "output"}, tensor<1048832xf32> {graph.name = "b", graph.role = "output"}) {
    %0 = graph.fusion (%i = %x : tensor<1048832xf32>) -> (tensor<1048832xf32>) {
      %2 = graph.exp %i : tensor<1048832xf32>
      graph.yield %2 : tensor<1048832xf32>
    }
    %1 = graph.fusion (%i = %y : tensor<1048832xf32>) -> (tensor<1048832xf32>) {
      %2 = graph.exp %i : tensor<1048832xf32>
      graph.yield %2 : tensor<1048832xf32>
    }
    return %0, %1 : tensor<1048832xf32>, tensor<1048832xf32>
  }
}
