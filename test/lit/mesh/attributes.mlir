// The attributes of the mesh dialect, and collectives in the forms that collectives.mlir does not
// have.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK: #mesh.mesh<[dp = 2, "my axis" = 4, pp = 1]>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2, "my axis" = 4, "pp" = 1]>} {
  // CHECK-LABEL: @a_layout_names_the_axes_of_each_dim
  // CHECK-SAME: #mesh.sharding<[{dp, pp}, {}, {"my axis"}]>
  func.func @a_layout_names_the_axes_of_each_dim(%a: tensor<8x8x8xf32> {mesh.sharding = #mesh.sharding<[{dp, pp}, {}, {"my axis"}]>}) { return }

  // CHECK-LABEL: @a_scalar_has_no_dims
  // CHECK-SAME: #mesh.sharding<[]>
  func.func @a_scalar_has_no_dims(%a: tensor<f32> {mesh.sharding = #mesh.sharding<[]>}) { return }

  // CHECK-LABEL: @partial_values_are_sums_maxima_or_minima
  // CHECK-SAME: #mesh.sharding<[{}], partial = sum {dp}>
  // CHECK-SAME: #mesh.sharding<[{dp}], partial = max {pp, "my axis"}>
  // CHECK-SAME: #mesh.sharding<[], partial = min {dp}>
  func.func @partial_values_are_sums_maxima_or_minima(
      %a: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{}], partial = sum {dp}>},
      %b: tensor<8xf32> {mesh.sharding = #mesh.sharding<[{dp}], partial = max {pp, "my axis"}>},
      %c: tensor<f32> {mesh.sharding = #mesh.sharding<[], partial = min {dp}>}) { return }

  // CHECK-LABEL: @a_strategy_has_a_layout_per_result
  func.func @a_strategy_has_a_layout_per_result(%a: tensor<8xf32>) {
    // CHECK: graph.sort %arg0 dim 0 {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}]>, #mesh.sharding<[{dp}]>]>}
    %0, %1 = graph.sort %a dim 0 {mesh.strategy = #mesh.strategy<[{}], results = [#mesh.sharding<[{}]>, #mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return
  }

  // CHECK-LABEL: @a_strategy_may_have_partial_operands
  func.func @a_strategy_may_have_partial_operands(%a: tensor<8xf32>) {
    // CHECK: #mesh.strategy<[{pp}], partial = {dp, "my axis"}, results = [#mesh.sharding<[{pp}], partial = sum {dp}>]>
    %0 = graph.neg %a {mesh.strategy = #mesh.strategy<[{pp}], partial = {dp, "my axis"}, results = [#mesh.sharding<[{pp}], partial = sum {dp}>]>} : tensor<8xf32>
    return
  }

  // CHECK-LABEL: @every_kind_of_reduction
  func.func @every_kind_of_reduction(%a: tensor<8xi64>) -> tensor<1xi64> {
    // CHECK-NEXT: mesh.all_reduce max %arg0 over {dp} : tensor<8xi64>
    %0 = mesh.all_reduce max %a over {dp} : tensor<8xi64>
    // CHECK-NEXT: mesh.all_reduce min %0 over {"my axis", dp} : tensor<8xi64>
    %1 = mesh.all_reduce min %0 over {"my axis", dp} : tensor<8xi64>
    // CHECK-NEXT: mesh.reduce_scatter sum %1 dim 0 over {"my axis"} : tensor<8xi64> -> tensor<2xi64>
    %2 = mesh.reduce_scatter sum %1 dim 0 over {"my axis"} : tensor<8xi64> -> tensor<2xi64>
    // CHECK-NEXT: mesh.reduce_scatter min %2 dim 0 over {dp} : tensor<2xi64> -> tensor<1xi64>
    %3 = mesh.reduce_scatter min %2 dim 0 over {dp} : tensor<2xi64> -> tensor<1xi64>
    return %3 : tensor<1xi64>
  }

  // Eight ranks take blocks of one; the last of three elements leaves five of them empty.
  // CHECK-LABEL: @fewer_elements_than_ranks
  func.func @fewer_elements_than_ranks(%a: tensor<3xui8>) -> tensor<3xui8> {
    // CHECK-NEXT: mesh.slice %arg0 dim 0 over {dp, "my axis"} : tensor<3xui8> -> tensor<1xui8>
    %0 = mesh.slice %a dim 0 over {dp, "my axis"} : tensor<3xui8> -> tensor<1xui8>
    // CHECK-NEXT: mesh.all_gather %0 dim 0 over {dp, "my axis"} : tensor<1xui8> -> tensor<3xui8>
    %1 = mesh.all_gather %0 dim 0 over {dp, "my axis"} : tensor<1xui8> -> tensor<3xui8>
    return %1 : tensor<3xui8>
  }

  // CHECK-LABEL: @an_axis_of_one_rank_changes_nothing
  func.func @an_axis_of_one_rank_changes_nothing(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK-NEXT: mesh.all_to_all %arg0 from 1 to 0 over {pp} : tensor<4x4xf32> -> tensor<4x4xf32>
    %0 = mesh.all_to_all %a from 1 to 0 over {pp} : tensor<4x4xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
