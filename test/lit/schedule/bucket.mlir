// All_reduces with the same mesh.bucket become one.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-bucket | FileCheck %s

// Two gradients; who reads the first waits for the second.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<2x2xf32>
// CHECK: %[[R:.*]]:2 = mesh.all_reduce sum %[[A]], %[[B]] over {dp} : tensor<4xf32>, tensor<2x2xf32>
// CHECK-NOT: mesh.all_reduce
// CHECK: graph.exp %[[R]]#0
// CHECK: graph.exp %[[R]]#1
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} {mesh.bucket = 0 : i64} : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    %2 = mesh.all_reduce sum %b over {dp} {mesh.bucket = 0 : i64} : tensor<2x2xf32>
    %3 = graph.exp %2 : tensor<2x2xf32>
    return %1, %3 : tensor<4xf32>, tensor<2x2xf32>
  }
}

// -----

// Others stay as they are: those of other buckets, and those of none.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %{{.*}}, %{{.*}} over {dp} : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: mesh.all_reduce sum %{{[a-z0-9]*}} over {dp} : tensor<4xf32>
// CHECK-NEXT: mesh.all_reduce sum %{{.*}}, %{{.*}} over {tp} : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} {mesh.bucket = 0 : i64} : tensor<4xf32>
    %1 = mesh.all_reduce sum %a over {tp} {mesh.bucket = 1 : i64} : tensor<4xf32>
    %2 = mesh.all_reduce sum %b over {dp} {mesh.bucket = 0 : i64} : tensor<4xf32>
    %3 = mesh.all_reduce sum %b over {dp} : tensor<4xf32>
    %4 = mesh.all_reduce sum %b over {tp} {mesh.bucket = 1 : i64} : tensor<4xf32>
    return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// The joined op has the other attributes of its last member. A bucket of which one member is left
// is no bucket.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %arg0, %arg1 over {dp} {mesh.part = "backward"}
// CHECK-NEXT: mesh.all_reduce sum %arg1 over {dp} : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} {mesh.bucket = 0 : i64, mesh.part = "forward"} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} {mesh.bucket = 0 : i64, mesh.part = "backward"} : tensor<4xf32>
    %2 = mesh.all_reduce sum %b over {dp} {mesh.bucket = 1 : i64} : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A function that is no step keeps its all_reduces.
// CHECK-LABEL: func @other
// CHECK-COUNT-2: mesh.all_reduce
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @other(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} {mesh.bucket = 0 : i64} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} {mesh.bucket = 0 : i64} : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
