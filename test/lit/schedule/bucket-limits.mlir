// What a bucket holds, when it is closed, and where its all_reduce stands.
// RUN: cleave-opt %s --split-input-file --cleave-schedule-bucket="bytes=64" | FileCheck %s
// RUN: cleave-opt %s --split-input-file --cleave-schedule-bucket | FileCheck %s --check-prefix=WIDE

// Two tensors that fill the bucket exactly; the third begins the next one.
// CHECK-LABEL: func @step
// CHECK-NEXT: mesh.all_reduce sum %arg0, %arg1 over {dp} : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: mesh.all_reduce sum %arg2 over {dp} : tensor<8xf32>
// CHECK-NEXT: return
// Without the option, a bucket holds all three.
// WIDE-LABEL: func @step
// WIDE-NEXT: mesh.all_reduce sum %arg0, %arg1, %arg2 over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<8xf32>
    %1 = mesh.all_reduce sum %b over {dp} : tensor<8xf32>
    %2 = mesh.all_reduce sum %c over {dp} : tensor<8xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A tensor that is larger than a bucket closes the one before and is a bucket of its own.
// CHECK-LABEL: func @step
// CHECK-NEXT: mesh.all_reduce sum %arg0 over {dp} : tensor<4xf32>
// CHECK-NEXT: mesh.all_reduce sum %arg1 over {dp} : tensor<32xf32>
// CHECK-NEXT: mesh.all_reduce sum %arg2, %arg3 over {dp} : tensor<4xf32>, tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<32xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<32xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} : tensor<32xf32>
    %2 = mesh.all_reduce sum %c over {dp} : tensor<4xf32>
    %3 = mesh.all_reduce sum %d over {dp} : tensor<4xf32>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<32xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// One operand of two members is reduced once, and both readers read that result.
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]]:2 = mesh.all_reduce sum %arg0, %arg1 over {dp}
// CHECK-NOT: mesh.all_reduce
// CHECK-DAG: graph.exp %[[R]]#0
// CHECK-DAG: graph.neg %[[R]]#0
// CHECK-DAG: graph.abs %[[R]]#1
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    %2 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %3 = graph.neg %2 : tensor<4xf32>
    %4 = mesh.all_reduce sum %b over {dp} : tensor<4xf32>
    %5 = graph.abs %4 : tensor<4xf32>
    return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// An all_reduce of several tensors joins with one of a single tensor.
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]]:3 = mesh.all_reduce sum %arg0, %arg1, %arg2 over {dp}
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
    %0:2 = mesh.all_reduce sum %a, %b over {dp} : tensor<4xf32>, tensor<4xf32>
    %1 = mesh.all_reduce sum %c over {dp} : tensor<2xf32>
    return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
  }
}

// -----

// A single all_reduce moves up to its operand, so that it begins as early as it can.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[E:.*]] = graph.exp %arg0
// CHECK-NEXT: mesh.all_reduce sum %[[E]]
// CHECK-NEXT: graph.neg
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = graph.exp %a : tensor<4xf32>
    %1 = graph.neg %a : tensor<4xf32>
    %2 = mesh.all_reduce sum %0 over {dp} : tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// The joined op has the attributes of its last member.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %arg0, %arg1 over {dp} {mesh.part = "backward"}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} {mesh.part = "forward"} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} {mesh.part = "backward"} : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A bucket closes as soon as an all_reduce of another kind needs one of its results.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %arg0 over {dp}
// CHECK: mesh.all_reduce max %{{.*}} over {dp}
// CHECK: %[[E:.*]] = graph.exp %arg1
// CHECK: mesh.all_reduce sum %[[E]] over {dp}
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    %2 = mesh.all_reduce max %1 over {dp} : tensor<4xf32>
    %3 = graph.exp %b : tensor<4xf32>
    %4 = mesh.all_reduce sum %3 over {dp} : tensor<4xf32>
    return %2, %4 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Other collectives are never joined.
// CHECK-LABEL: func @step
// CHECK-COUNT-2: mesh.all_gather
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = mesh.all_gather %a dim 0 over {dp} : tensor<4xf32> -> tensor<8xf32>
    %1 = mesh.all_gather %b dim 0 over {dp} : tensor<4xf32> -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A function that is no step keeps its all_reduces.
// CHECK-LABEL: func @other
// CHECK-COUNT-2: mesh.all_reduce
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @other(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = mesh.all_reduce sum %a over {dp} : tensor<4xf32>
    %1 = mesh.all_reduce sum %b over {dp} : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
