// The program: segments and their schedule, tensors at the boundary, constants, lifetimes.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// A step without an update is one segment that runs once.
// CHECK-LABEL: module
// CHECK: program.program {{.*}} schedule [0, 0]
// CHECK: program.segment "micro"
// CHECK-NOT: program.segment
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    return %x : tensor<4xf32>
  }
}

// -----

// What depends on no input runs in the update, after the micro-batch.
// CHECK-LABEL: module
// CHECK: program.program {{.*}} schedule [0, 0, 1, 0]
// CHECK: program.segment "micro"
// CHECK: program.segment "update"
// CHECK-NEXT: program.launch
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %p: tensor<4xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"},
          tensor<4xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 1 : i64}) {
    %0 = graph.fusion (%a = %p : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = graph.exp %a : tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    return %x, %0 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Two micro-batches: the sum is cleared once, added to twice, and read once.
// CHECK-LABEL: module
// CHECK: program.program {{.*}} schedule [0, 0, 1, 0, 1, 1, 2, 0]
// CHECK: program.buffer gradient "sum" tensor<4xf32>
// CHECK: program.segment "begin"
// CHECK-NEXT: program.fill %[[S:.*]] with 0.0
// CHECK: program.segment "micro"
// CHECK-NEXT: program.load_input %[[X:.*]]
// CHECK-NEXT: program.launch @{{.*}}_add(%[[S]], %[[X]]) writes [0]
// CHECK: program.segment "update"
// CHECK-NEXT: program.launch @{{.*}}_sub(%{{.*}}, %[[S]]) writes [0]
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %p: tensor<4xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 1 : i64}) {
    %0 = graph.accumulate %x count 2 : tensor<4xf32>
    %1 = graph.fusion (%a = %p : tensor<4xf32>, %b = %0 : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.sub %a, %b : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}

// -----

// A product that only a sum over micro-batches reads is added to it at once.
// CHECK-LABEL: module
// CHECK: program.buffer gradient "sum" tensor<4x3xf32>
// CHECK: program.segment "begin"
// CHECK-NEXT: program.fill %[[S:.*]] with 0.0
// CHECK: program.segment "micro"
// CHECK: program.matmul {{.*}} to %[[S]] <2 at 0 by[3, 1]> {{.*}}accumulate
// CHECK-NOT: _add(
// CHECK: program.segment "update"
// CHECK-NEXT: program.launch @{{.*}}_sub(%{{.*}}, %[[S]]) writes [0]
module {
  func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"}, %y: tensor<8x3xf32> {graph.name = "y", graph.role = "input"},
                  %p: tensor<4x3xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4x3xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 2 : i64}) {
    %0 = graph.dot_general %x, %y batch [] x [] contract [0] x [0] : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %1 = graph.accumulate %0 count 2 : tensor<4x3xf32>
    %2 = graph.fusion (%a = %p : tensor<4x3xf32>, %b = %1 : tensor<4x3xf32>) -> (tensor<4x3xf32>) {
      %3 = graph.sub %a, %b : tensor<4x3xf32>
      graph.yield %3 : tensor<4x3xf32>
    }
    return %2 : tensor<4x3xf32>
  }
}

// -----

// A product that is read beside the sum has a buffer of its own.
// CHECK-LABEL: module
// CHECK: program.segment "micro"
// CHECK: program.matmul
// CHECK-NOT: accumulate
// CHECK: program.launch @{{.*}}_add(
module {
  func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"}, %y: tensor<8x3xf32> {graph.name = "y", graph.role = "input"},
                  %p: tensor<4x3xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4x3xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 2 : i64},
          tensor<4x3xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.dot_general %x, %y batch [] x [] contract [0] x [0] : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %1 = graph.accumulate %0 count 2 : tensor<4x3xf32>
    %2 = graph.fusion (%a = %p : tensor<4x3xf32>, %b = %1 : tensor<4x3xf32>) -> (tensor<4x3xf32>) {
      %3 = graph.sub %a, %b : tensor<4x3xf32>
      graph.yield %3 : tensor<4x3xf32>
    }
    return %2, %0 : tensor<4x3xf32>, tensor<4x3xf32>
  }
}

// -----

// A sum over one micro-batch is the gradient itself.
// CHECK-LABEL: module
// CHECK-NOT: program.buffer gradient
// CHECK: program.program {{.*}} schedule [0, 0, 1, 0]
// CHECK-NOT: program.segment "begin"
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %p: tensor<4xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 1 : i64}) {
    %0 = graph.accumulate %x count 1 : tensor<4xf32>
    %1 = graph.fusion (%a = %p : tensor<4xf32>, %b = %0 : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.sub %a, %b : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}

// -----

// A running statistic of several micro-batches is stored in each of them, for the next one to read.
// CHECK-LABEL: module
// CHECK: %[[S:.*]] = program.buffer state "s"
// CHECK: program.segment "micro"
// CHECK: program.launch @{{.*}}_add(%[[S]], %{{.*}}) writes [0]
// CHECK: program.segment "update"
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %s: tensor<4xf32> {graph.name = "s", graph.role = "state"},
                  %p: tensor<4xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 1 : i64},
          tensor<4xf32> {graph.name = "p", graph.role = "parameter", graph.alias = 2 : i64}) {
    %0 = graph.fusion (%a = %s : tensor<4xf32>, %b = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.add %a, %b : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %1 = graph.accumulate %x count 2 : tensor<4xf32>
    %3 = graph.fusion (%a = %p : tensor<4xf32>, %b = %1 : tensor<4xf32>) -> (tensor<4xf32>) {
      %4 = graph.sub %a, %b : tensor<4xf32>
      graph.yield %4 : tensor<4xf32>
    }
    return %0, %3 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// An input that nothing reads is a tensor of the plan, but is neither loaded nor held.
// CHECK-LABEL: module
// CHECK: program.tensor input "x"
// CHECK: program.tensor input "z"
// CHECK-NOT: program.buffer input "z"
// CHECK-COUNT-1: program.load_input
// CHECK-NOT: program.load_input
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %z: tensor<4xf32> {graph.name = "z", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    return %x : tensor<4xf32>
  }
}

// -----

// A parameter that nothing reads is held all the same.
// CHECK-LABEL: module
// CHECK: program.buffer parameter "p" tensor<4xf32> at {{.*}} live 0 to 2
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %p: tensor<4xf32> {graph.name = "p", graph.role = "parameter"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    return %x : tensor<4xf32>
  }
}

// -----

// An op without readers is not computed.
// CHECK-LABEL: module
// CHECK-NOT: program.{{kernel|launch}}
// CHECK: program.segment
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.scan sum %x dim 0 : tensor<4xf32>
    return %x : tensor<4xf32>
  }
}

// -----

// Equal computations on equal views are launches of one kernel.
// CHECK-LABEL: module
// CHECK: program.kernel @[[K:.*]] on 2
// CHECK-NOT: program.kernel
// CHECK: program.launch @[[K]](
// CHECK-NEXT: program.launch @[[K]](
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "constant"}, %z: tensor<4xf32> {graph.name = "z", graph.role = "constant"})
      -> (tensor<4xf32> {graph.name = "a", graph.role = "output"}, tensor<4xf32> {graph.name = "b", graph.role = "output"}) {
    %0 = graph.scan sum %x dim 0 : tensor<4xf32>
    %1 = graph.scan sum %z dim 0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A constant with different elements is a tensor of the plan; one with equal elements is a fill.
// CHECK-LABEL: module
// CHECK: program.tensor constant "constant.0" tensor<2xf32> split {{\[\[\]\]}} {origin = {data = dense<[1.000000e+00, 2.000000e+00]>
// CHECK: program.buffer constant "constant.0"
// CHECK: program.buffer activation "constant" tensor<2xf32>
// CHECK: program.fill %{{.*}} with 5.0
module {
  func.func @step() -> (tensor<2xf32> {graph.name = "a", graph.role = "output"}, tensor<2xf32> {graph.name = "b", graph.role = "output"}) {
    %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = graph.constant dense<5.0> : tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// Tensors of the plan are whole, with the axes that split them; buffers are blocks.
// CHECK-LABEL: module
// CHECK: program.tensor input "x" tensor<8x6xi64> split {{\[\[0, 1\], \[\]\]}} {label}
// CHECK: program.tensor state "m" tensor<8xf32> split {{\[\[1\]\]}} {origin = {fill = 0.000000e+00 : f64}, parameter = "w"}
// CHECK: program.buffer input "x" tensor<2x6xi64>
// CHECK: program.buffer state "m" tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<2x6xi64> {graph.name = "x", graph.role = "label", mesh.global = tensor<8x6xi64>,
                                       mesh.sharding = #mesh.sharding<[{dp, tp}, {}]>},
                  %m: tensor<4xf32> {graph.name = "m", graph.role = "state", graph.parameter = "w", mesh.global = tensor<8xf32>,
                                     graph.source = {fill = 0.0 : f64}, mesh.sharding = #mesh.sharding<[{tp}]>})
      -> (tensor<2x6xi64> {graph.name = "y", graph.role = "output", mesh.global = tensor<8x6xi64>,
                           mesh.sharding = #mesh.sharding<[{dp, tp}, {}]>}) {
    return %x : tensor<2x6xi64>
  }
}

// -----

// A loss is a metric: it is reported from where it was computed.
// CHECK-LABEL: module
// CHECK: program.metric "loss" %[[L:.*]]
// CHECK-NOT: program.{{store_output|copy}}
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}) -> (tensor<f32> {graph.name = "loss", graph.role = "loss"}) {
    %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<f32>) {
      %1 = graph.reduce sum %a over [0] : tensor<4xf32> -> tensor<f32>
      graph.yield %1 : tensor<f32>
    }
    return %0 : tensor<f32>
  }
}

// -----

// An instruction names the op of the model that it implements.
// CHECK-LABEL: module
// CHECK: program.launch {{.*}} {source = "blocks.0.scan"}
// CHECK-NEXT: program.copy %{{[0-9]+}} to %{{[0-9]+}}{{$}}
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.scan sum %x dim 0 : tensor<4xf32> loc("blocks.0.scan")
    return %0 : tensor<4xf32>
  }
}

// -----

// Buffers begin at multiples of 64 bytes and live from the first to the last instruction that
// uses them. Of five buffers, at most four are live at once.
// CHECK-LABEL: module
// CHECK: program.program arena <256 bytes, peak 256>
// CHECK-NEXT: program.buffer constant "x" tensor<4xf32> at {{0|64|128|192}} bytes 16 live 0 to 5
// CHECK-NEXT: program.buffer activation "scan" tensor<4xf32> at {{0|64|128|192}} bytes 16 live 0 to 2
// CHECK-NEXT: program.buffer activation "scan" tensor<4xf32> at {{0|64|128|192}} bytes 16 live 1 to 4
// CHECK-NEXT: program.buffer output "y" tensor<4xf32> at {{0|64|128|192}} bytes 16 live 2 to 3
// CHECK-NEXT: program.buffer output "z" tensor<4xf32> at {{0|64|128|192}} bytes 16 live 4 to 5
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "constant"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}, tensor<4xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.scan sum %x dim 0 : tensor<4xf32>
    %1 = graph.scan sum %0 dim 0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
