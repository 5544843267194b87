// Steps that keep the promise of a phase at its edge: what looks like a broken rule and is none.
// RUN: split-file %s %t
// RUN: cleave-opt %t/import.mlir --split-input-file --cleave-promise-check=phase=import | FileCheck %t/import.mlir
// RUN: cleave-opt %t/train.mlir --split-input-file --cleave-promise-check=phase=train | FileCheck %t/train.mlir
// RUN: cleave-opt %t/primitive.mlir --split-input-file --cleave-promise-check=phase=primitive | FileCheck %t/primitive.mlir
// RUN: cleave-opt %t/planned.mlir --split-input-file --cleave-promise-check=phase=planned | FileCheck %t/planned.mlir
// RUN: cleave-opt %t/partitioned.mlir --split-input-file --cleave-promise-check=phase=partitioned | FileCheck %t/partitioned.mlir
// RUN: cleave-opt %t/program.mlir --split-input-file --cleave-promise-check=phase=program | FileCheck %t/program.mlir

//--- import.mlir
// S3: inputs have names apart from those of parameters, and a constant may have any.
// CHECK-LABEL: @an_input_may_have_the_name_of_a_parameter
module @an_input_may_have_the_name_of_a_parameter {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"},
                  %p: tensor<4xf32> {graph.name = "x", graph.role = "parameter", graph.source = {fill = 0.0 : f64}},
                  %c: tensor<4xf32> {graph.name = "x", graph.role = "constant", graph.source = {fill = 0.0 : f64}}) { return }
}

// -----
// S4: a value in a file is found beside the model.
// CHECK-LABEL: @a_value_may_be_in_the_model_file
module @a_value_may_be_in_the_model_file attributes {graph.model = {bytes = 16 : i64, path = "/models/w.onnx"}} {
  func.func @step(%p: tensor<4xf32> {graph.name = "w", graph.role = "parameter",
                                     graph.source = {bytes = 16 : i64, element = f32, offset = 0 : i64, path = ""}}) { return }
}

// -----
// P1 and P2 say nothing of dead code and gradient stops: these are the promise of `forward`.
// CHECK-LABEL: @an_import_may_hold_dead_code
module @an_import_may_hold_dead_code {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) {
    %0 = graph.stop_gradient %x : tensor<4xf32>
    return
  }
}

//--- train.mlir
// P2: a state need not belong to a parameter. P3: a metric is not the loss.
// CHECK-LABEL: @a_step_counts_itself
module @a_step_counts_itself {
  func.func @step(%s: tensor<f32> {graph.name = "step", graph.role = "state", graph.source = {fill = 0.0 : f64}})
      -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}, tensor<f32> {graph.name = "norm", graph.role = "metric"},
          tensor<f32> {graph.name = "step", graph.role = "state", graph.alias = 0 : i64}) {
    return %s, %s, %s : tensor<f32>, tensor<f32>, tensor<f32>
  }
}

// -----
// P5: dropouts that drop nothing, and those with a seed. P6: equal numbers of micro-batches.
// CHECK-LABEL: @a_dropout_of_rate_zero_needs_no_seed
module @a_dropout_of_rate_zero_needs_no_seed {
  func.func @step(%x: tensor<f32> {graph.name = "x", graph.role = "input"}, %s: tensor<i64> {graph.name = "s", graph.role = "input"})
      -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
    %0 = graph.dropout %x {rate = 0.0 : f64} : tensor<f32>
    %1 = graph.dropout %0 seed %s {rate = 0.5 : f64} : tensor<f32>
    %2 = graph.accumulate %1 count 4 : tensor<f32>
    %3 = graph.accumulate %2 count 4 : tensor<f32>
    return %3 : tensor<f32>
  }
}

// -----
// P3: a single float may have dims.
// CHECK-LABEL: @a_loss_may_have_dims_of_size_one
module @a_loss_may_have_dims_of_size_one {
  func.func @step(%x: tensor<1x1xf64> {graph.name = "x", graph.role = "input"}) -> (tensor<1x1xf64> {graph.name = "loss", graph.role = "loss"}) {
    return %x : tensor<1x1xf64>
  }
}

//--- primitive.mlir
// P2: constants of equal elements, moves and ops with a kernel of their own are outside of groups.
// CHECK-LABEL: @ops_outside_of_groups
module @ops_outside_of_groups {
  func.func @step(%x: tensor<4x3xf32> {graph.name = "x", graph.role = "input"}) -> (tensor<3x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.constant dense<0.5> : tensor<4x3xf32>
    %1 = graph.dot_general %x, %0 batch [] x [] contract [1] x [1] : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x4xf32>
    %2, %3 = graph.sort %1 dim 0 : tensor<4x4xf32>
    %4 = graph.slice %2 dim 1 from 0 step 1 : tensor<4x4xf32> -> tensor<4x3xf32>
    %5 = graph.transpose %4 by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
    return %5 : tensor<3x4xf32>
  }
}

//--- planned.mlir
// P2: an argument may be computed in another layout than it is stored. P3, P4: a linear op may have
// partial operands and leave its result partial along the same axes.
// CHECK-LABEL: @a_linear_op_of_summands
module @a_linear_op_of_summands attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>, mesh.compute = #mesh.sharding<[{}, {dp}]>}) {
    %0 = graph.reduce sum %x over [1] {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}], partial = sum {dp}>]>} : tensor<4x8xf32> -> tensor<4xf32>
    %1 = graph.neg %0 {mesh.strategy = #mesh.strategy<[{}], partial = {dp}, results = [#mesh.sharding<[{}], partial = sum {dp}>]>} : tensor<4xf32>
    return
  }
}

//--- partitioned.mlir
// P3: the last block of an uneven split is padded. P4: a result with an alias has the layout of the
// argument.
// CHECK-LABEL: @uneven_blocks_of_a_state
module @uneven_blocks_of_a_state attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%s: tensor<2xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}, mesh.global = tensor<7xf32>, mesh.sharding = #mesh.sharding<[{dp}]>})
      -> (tensor<2xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64, mesh.global = tensor<7xf32>, mesh.sharding = #mesh.sharding<[{dp}]>}) {
    return %s : tensor<2xf32>
  }
}

//--- program.mlir
// P4: buffers share bytes at different times; one without bytes shares them at any time. P3: a
// parameter lives all the time.
// CHECK-LABEL: @buffers_follow_each_other
module @buffers_follow_each_other {
  program.program arena <128 bytes, peak 32> schedule [0, 0] {
    %w = program.buffer parameter "w" tensor<4xf32> at 0 bytes 16 live 0 to 1
    %a = program.buffer activation "a" tensor<4xf32> at 64 bytes 16 live 0 to 0
    %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 1 to 1
    %n = program.buffer activation "n" tensor<0xf32> at 64 bytes 0 live 0 to 1
    program.segment "micro" {
      program.copy %w to %a
      program.copy %w to %b
    }
  }
}

// -----
// P6: a view that goes backward ends at the first element. P7: strides of 0 repeat one row.
program.kernel @reversed on 2 operands [#program.view<0 at 3 by [-1]>] results [#program.view<1 at 0 by [1]>] {
^bb0(%x: tensor<4xf32>):
  %0 = graph.exp %x : tensor<4xf32>
}
// CHECK: program.launch @reversed
program.program arena <128 bytes, peak 32> schedule [0, 0] {
  %a = program.buffer activation "a" tensor<4xf32> at 0 bytes 16 live 0 to 1
  %b = program.buffer activation "b" tensor<4xf32> at 64 bytes 16 live 0 to 1
  program.segment "micro" {
    program.launch @reversed(%a, %b) writes [1]
    program.matmul %a <0 at 0 by [0, 1]>, %a <1 at 0 by [1, 2]> to %b <2 at 0 by [2, 1]> batch [] m 2 n 2 k 2
  }
}

// -----
// P9: what each rank of two receives of eight elements.
// CHECK-LABEL: @collectives_of_two_ranks
module @collectives_of_two_ranks attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  program.program arena <192 bytes, peak 112> schedule [0, 0] {
    %a = program.buffer activation "a" tensor<8xf32> at 0 bytes 32 live 0 to 3
    %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 3
    %c = program.buffer activation "c" tensor<4xf32> at 128 bytes 16 live 0 to 3
    program.segment "micro" {
      program.collective all_gather over [0] reduce 0 (%a) to (%b)
      program.collective reduce_scatter over [0] reduce 0 (%a) to (%c)
      program.collective all_to_all over [0] reduce 0 (%a) to (%a)
      program.collective all_reduce over [0] reduce 2 (%a, %c) to (%a, %c)
    }
  }
}
