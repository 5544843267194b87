// A step that keeps the promises of `primitive`, and the pass's own errors.
// RUN: cleave-opt %s --cleave-promise-check=phase=primitive | FileCheck %s
// RUN: not cleave-opt %s --cleave-promise-check=phase=nowhere 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: graph.fusion
// UNKNOWN: found phase 'nowhere', expected import, forward, train, primitive, planned, partitioned, scheduled or program
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"},
                %s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "output"},
        tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 1 : i64}) {
  %0 = graph.fusion (%a = %x : tensor<4xf32>, %b = %s : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = graph.add %a, %b : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %x, %0 : tensor<4xf32>, tensor<4xf32>
}
