// A compilation that goes on from the text of a phase makes the program of one that was never
// interrupted.
// DEFINE: %{compile} = cleave-compile --cluster h100-node --ranks 2 --train --loss mse:y --optimizer sgd:lr=0.5
// RUN: %{compile} %s --start-from import --stop-after program -o %t.whole
// RUN: %{compile} %s --start-from import --stop-after forward -o %t.forward
// RUN: %{compile} %t.forward --start-from forward --stop-after train -o %t.train
// RUN: %{compile} %t.train --start-from train --stop-after primitive -o %t.primitive
// RUN: %{compile} %t.primitive --start-from primitive --stop-after planned -o %t.planned
// RUN: %{compile} %t.planned --start-from planned --stop-after partitioned -o %t.partitioned
// RUN: %{compile} %t.partitioned --start-from partitioned --stop-after scheduled -o %t.scheduled
// RUN: %{compile} %t.scheduled --start-from scheduled --stop-after program -o %t.program
// RUN: diff %t.whole %t.program

// The last phase reads the program, and it alone makes a plan.
// RUN: %{compile} %t.program --start-from program -o %t.plan
// RUN: cleave-dump %t.plan | FileCheck %s
// CHECK: 2 ranks
func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<4x2xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.5 : f64}})
    -> (tensor<8x2xf32> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %1 = graph.gelu %0 : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
