// The collectives are printed as they are read.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK: #mesh.mesh<[dp = 2, tp = 4]>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {
  // CHECK-LABEL: func @a_bucket_of_two
  func.func @a_bucket_of_two(%a: tensor<4xf32>, %b: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
    // CHECK: %{{.*}}:2 = mesh.all_reduce sum %{{.*}}, %{{.*}} over {dp, tp} : tensor<4xf32>, tensor<2x3xf32>
    %0:2 = mesh.all_reduce sum %a, %b over {dp, tp} : tensor<4xf32>, tensor<2x3xf32>
    return %0#0, %0#1 : tensor<4xf32>, tensor<2x3xf32>
  }

  // CHECK-LABEL: func @uneven_blocks_are_padded
  func.func @uneven_blocks_are_padded(%a: tensor<7x2xf32>) -> tensor<7x2xf32> {
    // CHECK: mesh.slice %{{.*}} dim 0 over {tp} : tensor<7x2xf32> -> tensor<2x2xf32>
    %0 = mesh.slice %a dim 0 over {tp} : tensor<7x2xf32> -> tensor<2x2xf32>
    // CHECK: mesh.all_to_all %{{.*}} from 0 to 1 over {tp} : tensor<2x2xf32> -> tensor<7x1xf32>
    %1 = mesh.all_to_all %0 from 0 to 1 over {tp} : tensor<2x2xf32> -> tensor<7x1xf32>
    // CHECK: mesh.all_gather %{{.*}} dim 1 over {tp} : tensor<7x1xf32> -> tensor<7x2xf32>
    %2 = mesh.all_gather %1 dim 1 over {tp} : tensor<7x1xf32> -> tensor<7x2xf32>
    // CHECK: mesh.reduce_scatter max %{{.*}} dim 0 over {tp} : tensor<7x2xf32> -> tensor<2x2xf32>
    %3 = mesh.reduce_scatter max %2 dim 0 over {tp} : tensor<7x2xf32> -> tensor<2x2xf32>
    // CHECK: mesh.all_gather
    %4 = mesh.all_gather %3 dim 0 over {tp} : tensor<2x2xf32> -> tensor<7x2xf32>
    return %4 : tensor<7x2xf32>
  }

  // CHECK-LABEL: func @blocks_move_between_ranks
  func.func @blocks_move_between_ranks(%a: tensor<7x2xf32>) -> tensor<7x2xf32> {
    // CHECK: mesh.permute %{{.*}} over {dp, tp} to {tp, dp} : tensor<7x2xf32>
    %0 = mesh.permute %a over {dp, tp} to {tp, dp} : tensor<7x2xf32>
    // CHECK: mesh.permute %{{.*}} over {tp} to {tp} reversed : tensor<7x2xf32>
    %1 = mesh.permute %0 over {tp} to {tp} reversed : tensor<7x2xf32>
    return %1 : tensor<7x2xf32>
  }

  // CHECK-LABEL: func @the_rank_knows_its_block
  func.func @the_rank_knows_its_block() -> tensor<i64> {
    // CHECK: mesh.block_offset over {dp} block 4 : tensor<i64>
    %0 = mesh.block_offset over {dp} block 4 : tensor<i64>
    return %0 : tensor<i64>
  }
}
