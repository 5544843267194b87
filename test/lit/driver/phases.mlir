// One training step, written by hand, after each phase.
// DEFINE: %{options} = --train --loss mse:y --optimizer sgd:lr=0.5 --cluster h100-node --ranks 2 --pin dp
// RUN: cleave-compile %s --start-from import --stop-after forward %{options} -o - | FileCheck %s --check-prefix=FORWARD
// RUN: cleave-compile %s --start-from import --stop-after train %{options} -o - | FileCheck %s --check-prefix=TRAIN
// RUN: cleave-compile %s --start-from import --stop-after primitive %{options} -o - | FileCheck %s --check-prefix=PRIMITIVE
// RUN: cleave-compile %s --start-from import --stop-after planned %{options} -o - | FileCheck %s --check-prefix=PLANNED
// RUN: cleave-compile %s --start-from import --stop-after partitioned %{options} -o - | FileCheck %s --check-prefix=PARTITIONED
// RUN: cleave-compile %s --start-from import --stop-after program %{options} -o - | FileCheck %s --check-prefix=PROGRAM
// RUN: cleave-compile %s --start-from import --stop-after artifact %{options} -o - | FileCheck %s --check-prefix=ARTIFACT

// `forward` folds and simplifies; the role of the step's results is still that of the model.
// FORWARD: func.func @step
// FORWARD: graph.role = "output"
// FORWARD-NOT: graph.transpose
// FORWARD: graph.relu
// FORWARD-NOT: graph.exp

// `train` adds a label and the update of the parameter, and the loss replaces the output.
// TRAIN: graph.optimizer = "sgd:lr=0.5,
// TRAIN: func.func @step
// TRAIN: graph.role = "parameter"
// TRAIN: graph.trainable
// TRAIN: graph.role = "label"
// TRAIN: graph.role = "loss"
// TRAIN: graph.alias = 1 : i64
// TRAIN: graph.role = "parameter"
// TRAIN-NOT: graph.role = "output"
// TRAIN: graph.relu
// TRAIN-NOT: graph.fusion

// `primitive` has no composite, and its pointwise ops are in kernel groups.
// PRIMITIVE-NOT: graph.relu
// PRIMITIVE: graph.fusion
// PRIMITIVE-NOT: mesh.mesh

// `planned` splits the batch of 8 over two ranks, in attributes only.
// PLANNED: mesh.mesh = #mesh.mesh<[dp = 2]>
// PLANNED: %arg0: tensor<8x4xf32> {
// PLANNED: mesh.sharding = #mesh.sharding<[{dp}, {}]>
// PLANNED: graph.dot_general
// PLANNED: mesh.strategy = #mesh.strategy<
// PLANNED-NOT: mesh.all_reduce

// `partitioned` has blocks of 4 rows; the gradient of the parameter is summed over the ranks.
// PARTITIONED: %arg0: tensor<4x4xf32> {
// PARTITIONED: mesh.global = tensor<8x4xf32>
// PARTITIONED-NOT: mesh.strategy
// PARTITIONED: mesh.all_reduce sum {{.*}} over {dp}

// `program` has buffers and instructions, and no function.
// PROGRAM-NOT: func.func
// PROGRAM: graph.optimizer = "sgd:lr=0.5,
// PROGRAM-NOT: func.func
// PROGRAM: program.tensor input "x" tensor<8x4xf32> split {{\[}}[0], []]
// PROGRAM: program.kernel
// PROGRAM-NOT: extent
// PROGRAM: program.program
// PROGRAM: program.load_input
// PROGRAM: program.collective all_reduce over [0] reduce 0

// `artifact` sets the parallel extent of every kernel.
// ARTIFACT: program.kernel {{.*}} extent {{[0-9]+}}
func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"},
                %w: tensor<2x4xf32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.5 : f64}})
    -> (tensor<8x2xf32> {graph.name = "y", graph.role = "output"}) {
  %dead = graph.exp %x : tensor<8x4xf32>
  %t = graph.transpose %w by [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %0 = graph.dot_general %x, %t batch [] x [] contract [1] x [0] : tensor<8x4xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %1 = graph.relu %0 : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
