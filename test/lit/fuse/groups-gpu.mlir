// On GPUs, sums of columns stand beside results with all rows (G4) and beside reductions of rows (G2).
// RUN: cleave-opt %s --cleave-fuse-groups | FileCheck %s

module attributes {program.device = "cuda"} {
  // CHECK-LABEL: @a_gradient_and_its_bias_gradient
  // CHECK: graph.fusion ({{.*}}) -> (tensor<16x1024x96xf32>, tensor<96xf32>)
  // CHECK-NOT: graph.fusion
  func.func @a_gradient_and_its_bias_gradient(%x: tensor<16x1024x96xf32>) -> (tensor<16x1024x96xf32>, tensor<96xf32>) {
    %0 = graph.tanh %x : tensor<16x1024x96xf32>
    %1 = graph.reduce sum %0 over [0, 1] : tensor<16x1024x96xf32> -> tensor<96xf32>
    return %0, %1 : tensor<16x1024x96xf32>, tensor<96xf32>
  }

  // CHECK-LABEL: @rows_and_columns
  // CHECK: graph.fusion ({{.*}}) -> (tensor<16x1024x96xf32>, tensor<96xf32>)
  // CHECK-NOT: graph.fusion
  func.func @rows_and_columns(%x: tensor<16x1024x96xf32>) -> (tensor<16x1024x96xf32>, tensor<96xf32>) {
    %0 = graph.reduce sum %x over [2] : tensor<16x1024x96xf32> -> tensor<16x1024xf32>
    %1 = graph.broadcast %0 to [0, 1] : tensor<16x1024xf32> -> tensor<16x1024x96xf32>
    %2 = graph.sub %x, %1 : tensor<16x1024x96xf32>
    %3 = graph.reduce sum %2 over [0, 1] : tensor<16x1024x96xf32> -> tensor<96xf32>
    return %2, %3 : tensor<16x1024x96xf32>, tensor<96xf32>
  }

  // A block holds a row and its sums in registers.
  // CHECK-LABEL: @long_rows_leave_their_columns
  // CHECK-COUNT-2: graph.fusion (
  func.func @long_rows_leave_their_columns(%x: tensor<1024x16384xf32>) -> (tensor<1024x16384xf32>, tensor<16384xf32>) {
    %0 = graph.reduce sum %x over [1] : tensor<1024x16384xf32> -> tensor<1024xf32>
    %1 = graph.broadcast %0 to [0] : tensor<1024xf32> -> tensor<1024x16384xf32>
    %2 = graph.sub %x, %1 : tensor<1024x16384xf32>
    %3 = graph.reduce sum %2 over [0] : tensor<1024x16384xf32> -> tensor<16384xf32>
    return %2, %3 : tensor<1024x16384xf32>, tensor<16384xf32>
  }

  // A block holds up to four sums of columns.
  // CHECK-LABEL: @four_sums_beside_rows
  // CHECK: graph.fusion (
  // CHECK-NOT: graph.fusion
  func.func @four_sums_beside_rows(%x: tensor<1024x96xf32>) -> (tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>) {
    %0 = graph.reduce sum %x over [1] : tensor<1024x96xf32> -> tensor<1024xf32>
    %1 = graph.broadcast %0 to [0] : tensor<1024xf32> -> tensor<1024x96xf32>
    %v0 = graph.sub %x, %1 : tensor<1024x96xf32>
    %v1 = graph.exp %v0 : tensor<1024x96xf32>
    %v2 = graph.exp %v1 : tensor<1024x96xf32>
    %v3 = graph.exp %v2 : tensor<1024x96xf32>
    %s0 = graph.reduce sum %v0 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s1 = graph.reduce sum %v1 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s2 = graph.reduce sum %v2 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s3 = graph.reduce sum %v3 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    return %s0, %s1, %s2, %s3 : tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>
  }

  // CHECK-LABEL: @five_sums_beside_rows
  // CHECK-COUNT-2: graph.fusion (
  func.func @five_sums_beside_rows(%x: tensor<1024x96xf32>) -> (tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>) {
    %0 = graph.reduce sum %x over [1] : tensor<1024x96xf32> -> tensor<1024xf32>
    %1 = graph.broadcast %0 to [0] : tensor<1024xf32> -> tensor<1024x96xf32>
    %v0 = graph.sub %x, %1 : tensor<1024x96xf32>
    %v1 = graph.exp %v0 : tensor<1024x96xf32>
    %v2 = graph.exp %v1 : tensor<1024x96xf32>
    %v3 = graph.exp %v2 : tensor<1024x96xf32>
    %v4 = graph.exp %v3 : tensor<1024x96xf32>
    %s0 = graph.reduce sum %v0 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s1 = graph.reduce sum %v1 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s2 = graph.reduce sum %v2 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s3 = graph.reduce sum %v3 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    %s4 = graph.reduce sum %v4 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    return %s0, %s1, %s2, %s3, %s4 : tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>
  }

  // A sum over some of the row dims is not of whole columns.
  // CHECK-LABEL: @a_sum_over_the_batch_is_apart
  // CHECK-COUNT-2: graph.fusion (
  func.func @a_sum_over_the_batch_is_apart(%x: tensor<16x1024x96xf32>) -> (tensor<16x1024x96xf32>, tensor<1024x96xf32>) {
    %0 = graph.reduce sum %x over [2] : tensor<16x1024x96xf32> -> tensor<16x1024xf32>
    %1 = graph.broadcast %0 to [0, 1] : tensor<16x1024xf32> -> tensor<16x1024x96xf32>
    %2 = graph.sub %x, %1 : tensor<16x1024x96xf32>
    %3 = graph.reduce sum %2 over [0] : tensor<16x1024x96xf32> -> tensor<1024x96xf32>
    return %2, %3 : tensor<16x1024x96xf32>, tensor<1024x96xf32>
  }

  // Tiles of a transpose are computed element by element.
  // CHECK-LABEL: @a_transposed_operand_is_apart
  // CHECK-COUNT-2: graph.fusion (
  func.func @a_transposed_operand_is_apart(%x: tensor<96x1024xf32>) -> (tensor<1024x96xf32>, tensor<96xf32>) {
    %0 = graph.transpose %x by [1, 0] : tensor<96x1024xf32> -> tensor<1024x96xf32>
    %1 = graph.tanh %0 : tensor<1024x96xf32>
    %2 = graph.reduce sum %1 over [0] : tensor<1024x96xf32> -> tensor<96xf32>
    return %1, %2 : tensor<1024x96xf32>, tensor<96xf32>
  }
}
