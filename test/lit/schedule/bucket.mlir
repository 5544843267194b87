// All_reduces that are joined.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-bucket="bytes=64" | FileCheck %s

// Two gradients; who reads the first waits for the second.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<2x2xf32>
// CHECK: %[[R:.*]]:2 = mesh.all_reduce sum %[[A]], %[[B]] over {dp} : tensor<4xf32>, tensor<2x2xf32>
// CHECK-NOT: mesh.all_reduce
// CHECK: graph.exp %[[R]]#0
// CHECK: graph.exp %[[R]]#1
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    %2 = mesh.all_reduce sum %b over {dp} : tensor<2x2xf32>
    %3 = graph.exp %2 : tensor<2x2xf32>
    return %1, %3 : tensor<4xf32>, tensor<2x2xf32>
  }
}

// -----

// Not where the second needs the first.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %{{.*}} over {dp} : tensor<4xf32>
// CHECK: graph.exp
// CHECK: mesh.all_reduce sum %{{.*}} over {dp} : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    %2 = mesh.all_reduce sum %1 over {dp} : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}

// -----

// Not other axes, kinds or element types; and not more than a bucket holds.
// CHECK-LABEL: func @step
// CHECK-DAG: mesh.all_reduce sum %{{[a-z0-9]*}} over {tp} : tensor<4xf32>
// CHECK-DAG: mesh.all_reduce max %{{[a-z0-9]*}} over {dp} : tensor<4xf32>
// CHECK-DAG: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<4xf64>
// CHECK-DAG: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<16xf32>
// CHECK-DAG: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<4xf32>
// CHECK: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf64>, %c: tensor<16xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<16xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {tp} : tensor<4xf32>
    %1 = mesh.all_reduce max %a over {dp} : tensor<4xf32>
    %2 = mesh.all_reduce sum %b over {dp} : tensor<4xf64>
    %3 = mesh.all_reduce sum %c over {dp} : tensor<16xf32>
    %4 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<16xf32>, tensor<4xf32>
  }
}

// -----

// A reduction of every micro-batch does not wait for one of the step.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<4xf32>
// CHECK: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<4xf32>
// CHECK: graph.accumulate
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32> {graph.role = "input"}, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} : tensor<4xf32>
    %2 = graph.accumulate %0 count 2 : tensor<4xf32>
    return %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
