// Collectives: blocks that lie one behind the other are exchanged as they are, others are packed.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// An all_reduce of a value that dies is done in place.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.collective all_reduce over [0] reduce 0(%[[P]]) to(%[[P]])
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = mesh.all_reduce sum %0 over {dp} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// An all_reduce of a tensor that outlives the step writes elsewhere; a maximum is reduce 1.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer constant "x"
// CHECK: program.collective all_reduce over [1] reduce 1(%[[X]]) to(%[[Y:.*]])
// CHECK-NOT: to(%[[X]])
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "constant"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_reduce max %x over {tp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A bucket is one collective on pairs of buffers.
// CHECK-LABEL: module
// CHECK: program.collective all_reduce over [0] reduce 0(%[[A:.*]], %[[B:.*]]) to(%{{.*}}, %{{.*}})
// CHECK-NOT: program.collective
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32> {graph.name = "a", graph.role = "constant"},
                  %b: tensor<2xf32> {graph.name = "b", graph.role = "constant"})
      -> (tensor<4xf32> {graph.name = "c", graph.role = "output"}, tensor<2xf32> {graph.name = "d", graph.role = "output"}) {
    %0:2 = mesh.all_reduce sum %a, %b over {dp} : tensor<4xf32>, tensor<2xf32>
    return %0#0, %0#1 : tensor<4xf32>, tensor<2xf32>
  }
}

// -----

// Blocks of the leading dim are gathered right into the result.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer input "x"
// CHECK: program.load_input
// CHECK-NEXT: program.collective all_gather over [0] reduce 0(%[[X]]) to(%[[Y:.*]])
// CHECK-NEXT: program.copy %[[Y]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_gather %x dim 0 over {dp} : tensor<2x4xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// Blocks of a later dim arrive one behind the other, and one kernel puts them side by side.
// CHECK-LABEL: module
// CHECK: program.kernel @[[K:.*]] on 2 operands [#program.view<0 at 0 by[2, 8, 1]>] results [#program.view<1 at 0 by[4, 2, 1]>]
// CHECK: program.buffer workspace "gathered" tensor<2x4x2xf32>
// CHECK: program.collective all_gather over [0] reduce 0(%{{.*}}) to(%[[G:.*]])
// CHECK-NEXT: program.launch @[[K]](%[[G]], %{{.*}}) writes [1]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x2xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_gather %x dim 1 over {dp} : tensor<4x2xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// A dim of one element before the gathered one leaves the blocks one behind the other.
// CHECK-LABEL: module
// CHECK-NOT: workspace
// CHECK: program.collective all_gather
// CHECK-NOT: program.launch
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<1x2xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<1x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_gather %x dim 1 over {dp} : tensor<1x2xf32> -> tensor<1x4xf32>
    return %0 : tensor<1x4xf32>
  }
}

// -----

// Of uneven blocks, the full ones and the rest of the last one are copied; the padding is not.
// CHECK-LABEL: module
// CHECK: program.kernel @[[FULL:.*]] on 2 {{.*}}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x2xf32>)
// CHECK: program.kernel @[[REST:.*]] on 2 operands [#program.view<0 at 4 {{.*}}>] results [#program.view<1 at 4
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<1x1xf32>)
// CHECK: program.buffer workspace "gathered" tensor<4x2xf32>
// CHECK: program.collective all_gather
// CHECK-NEXT: program.launch @[[FULL]]
// CHECK-NEXT: program.launch @[[REST]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<2xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<5xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_gather %x dim 0 over {dp} : tensor<2xf32> -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----

// A reduce_scatter along the leading dim sends the tensor as it lies.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer input "x"
// CHECK-NOT: workspace
// CHECK: program.load_input
// CHECK-NEXT: program.collective reduce_scatter over [0] reduce 2(%[[X]]) to(%{{.*}})
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.reduce_scatter min %x dim 0 over {dp} : tensor<4x4xf32> -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// Along a later dim it packs the blocks first.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "packed" tensor<2x4x2xf32>
// CHECK: program.launch @{{.*}}(%{{.*}}, %[[P:.*]]) writes [1]
// CHECK-NEXT: program.collective reduce_scatter over [0] reduce 0(%[[P]])
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x2xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.reduce_scatter sum %x dim 1 over {dp} : tensor<4x4xf32> -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}

// -----

// Uneven blocks are padded with 0 before they are sent.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "packed" tensor<4x2xf32>
// CHECK: program.fill %[[P:.*]] with 0.0
// CHECK: program.launch @{{.*}}(%{{.*}}, %[[P]]) writes [1]
// CHECK: program.collective reduce_scatter over [0] reduce 0(%[[P]])
module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
  func.func @step(%x: tensor<5xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.reduce_scatter sum %x dim 0 over {dp} : tensor<5xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// An all_to_all to a leading dim sends as it lies and unpacks what it received.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer input "x"
// CHECK-NOT: "packed"
// CHECK: program.buffer workspace "received" tensor<2x2x2xf32>
// CHECK: program.collective all_to_all over [0] reduce 0(%[[X]]) to(%[[R:.*]])
// CHECK-NEXT: program.launch @{{.*}}(%[[R]], %{{.*}}) writes [1]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x2xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_to_all %x from 1 to 0 over {dp} : tensor<4x2xf32> -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// One from a leading dim packs and receives right into the result.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "packed" tensor<2x2x2xf32>
// CHECK-NOT: "received"
// CHECK: program.launch @{{.*}}(%{{.*}}, %[[P:.*]]) writes [1]
// CHECK-NEXT: program.collective all_to_all over [0] reduce 0(%[[P]]) to(%{{.*}})
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x2xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = mesh.all_to_all %x from 0 to 1 over {dp} : tensor<2x4xf32> -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}

// -----

// A permute sends whole blocks, whatever dim they were cut along.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer input "x"
// CHECK-NOT: workspace
// CHECK: program.load_input
// CHECK-NEXT: program.collective permute over [0, 1] to [1, 0] reduce 0(%[[X]]) to(%{{.*}})
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 3]>} {
  func.func @step(%x: tensor<4x2xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x2xf32> {graph.name = "y", graph.role = "output"}) {
    // CHECK-NEXT: program.collective permute over [1] to [1] reversed reduce 0
    %0 = mesh.permute %x over {dp, tp} to {tp, dp} : tensor<4x2xf32>
    %1 = mesh.permute %0 over {tp} to {tp} reversed : tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
}

// -----

// A slice and the begin of a block read the rank's coordinates, which exist once.
// CHECK-LABEL: module
// CHECK: program.kernel @[[SLICE:.*]] on 3
// CHECK: program.kernel @[[OFFSET:.*]] on 2
// CHECK: %[[C:.*]] = program.buffer coordinates "coordinates" tensor<2xi64> at {{.*}} live 0 to
// CHECK-NOT: program.buffer coordinates
// CHECK: program.launch @[[SLICE]](%{{.*}}, %{{.*}}, %[[C]]) writes [1]
// CHECK: program.launch @[[OFFSET]](%{{.*}}, %[[C]]) writes [0]
// CHECK-NOT: program.collective
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<2xf32> {graph.name = "y", graph.role = "output"}, tensor<i64> {graph.name = "z", graph.role = "output"}) {
    %0 = mesh.slice %x dim 0 over {tp} : tensor<4xf32> -> tensor<2xf32>
    %1 = mesh.block_offset over {dp, tp} block 2 : tensor<i64>
    return %0, %1 : tensor<2xf32>, tensor<i64>
  }
}
