// Gradients of ops that move, reduce and index. The loss is the sum of the result times w, so that
// the gradient of the result is DY = 1 w.
// RUN: cleave-opt --cleave-autodiff-gradients %s | FileCheck %s

// CHECK-LABEL: @reshape_is_undone(
func.func @reshape_is_undone(%x: tensor<4x8xf32>, %w: tensor<2x2x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.reshape %[[DY]] : tensor<2x2x8xf32> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %weighted = graph.mul %y, %w : tensor<2x2x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x2x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @transpose_goes_by_the_inverse_permutation(
func.func @transpose_goes_by_the_inverse_permutation(%x: tensor<2x3x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.transpose %[[DY]] by [2, 0, 1]
  // CHECK: return %[[DX]], %
  %y = graph.transpose %x by [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %weighted = graph.mul %y, %w : tensor<3x4x2xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<3x4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @broadcast_sums_over_the_repeated_dims(
func.func @broadcast_sums_over_the_repeated_dims(%x: tensor<8xf32>, %w: tensor<4x8x2xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.reduce sum %[[DY]] over [0, 2] : tensor<4x8x2xf32> -> tensor<8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.broadcast %x to [1] : tensor<8xf32> -> tensor<4x8x2xf32>
  %weighted = graph.mul %y, %w : tensor<4x8x2xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<4x8x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @broadcast_in_another_order_transposes_the_sum(
func.func @broadcast_in_another_order_transposes_the_sum(%x: tensor<2x3xf32>, %w: tensor<3x4x2xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[SUM:.*]] = graph.reduce sum %[[DY]] over [1] : tensor<3x4x2xf32> -> tensor<3x2xf32>
  // CHECK: %[[DX:.*]] = graph.transpose %[[SUM]] by [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  // CHECK: return %[[DX]], %
  %y = graph.broadcast %x to [2, 0] : tensor<2x3xf32> -> tensor<3x4x2xf32>
  %weighted = graph.mul %y, %w : tensor<3x4x2xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<3x4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @slice_pads_with_zeros_on_both_sides(
func.func @slice_pads_with_zeros_on_both_sides(%x: tensor<4x8xf32>, %w: tensor<4x3xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.pad %[[DY]] dim 1 low 2 : tensor<4x3xf32> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.slice %x dim 1 from 2 step 1 : tensor<4x8xf32> -> tensor<4x3xf32>
  %weighted = graph.mul %y, %w : tensor<4x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @slice_with_a_stride_pads_between_its_elements(
func.func @slice_with_a_stride_pads_between_its_elements(%x: tensor<4x8xf32>, %w: tensor<4x3xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.pad %[[DY]] dim 1 low 1 {interior = 2 : i64} : tensor<4x3xf32> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.slice %x dim 1 from 1 step 3 : tensor<4x8xf32> -> tensor<4x3xf32>
  %weighted = graph.mul %y, %w : tensor<4x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @pad_slices_its_operand_out(
func.func @pad_slices_its_operand_out(%x: tensor<4x8xf32>, %w: tensor<4x10xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.slice %[[DY]] dim 1 from 1 step 1 : tensor<4x10xf32> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.pad %x dim 1 low 1 : tensor<4x8xf32> -> tensor<4x10xf32>
  %weighted = graph.mul %y, %w : tensor<4x10xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x10xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @pad_between_elements_slices_with_a_stride(
func.func @pad_between_elements_slices_with_a_stride(%x: tensor<4x3xf32>, %w: tensor<4x9xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.slice %[[DY]] dim 1 from 1 step 3 : tensor<4x9xf32> -> tensor<4x3xf32>
  // CHECK: return %[[DX]], %
  %y = graph.pad %x dim 1 low 1 {interior = 2 : i64} : tensor<4x3xf32> -> tensor<4x9xf32>
  %weighted = graph.mul %y, %w : tensor<4x9xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x9xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @concat_slices_each_operand_at_its_offset(
func.func @concat_slices_each_operand_at_its_offset(%x: tensor<4x8xf32>, %z: tensor<2x8xf32>, %w: tensor<6x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[DX:.*]] = graph.slice %[[DY]] dim 0 from 0 step 1 : tensor<6x8xf32> -> tensor<4x8xf32>
  // CHECK: %[[DZ:.*]] = graph.slice %[[DY]] dim 0 from 4 step 1 : tensor<6x8xf32> -> tensor<2x8xf32>
  // CHECK: return %[[DX]], %[[DZ]], %
  %y = graph.concat %x, %z dim 0 : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
  %weighted = graph.mul %y, %w : tensor<6x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<6x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @reverse_is_its_own_inverse(
func.func @reverse_is_its_own_inverse(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.reverse %[[DY]] dim 1
  // CHECK: return %[[DX]], %
  %y = graph.reverse %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_sum_repeats_its_gradient_along_its_dims(
func.func @a_sum_repeats_its_gradient_along_its_dims(%x: tensor<4x8xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.broadcast %[[DY]] to [0] : tensor<4xf32> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.reduce sum %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %weighted = graph.mul %y, %w : tensor<4xf32>
  %loss = graph.reduce sum %weighted over [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @equal_maxima_share_the_gradient_evenly(
func.func @equal_maxima_share_the_gradient_evenly(%x: tensor<4x8xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[SPREAD:.*]] = graph.broadcast %{{.*}} to [0] : tensor<4xf32> -> tensor<4x8xf32>
  // CHECK: %[[IS:.*]] = graph.compare eq %arg0, %[[SPREAD]] :
  // CHECK: %[[ONES:.*]] = graph.cast %[[IS]] :
  // CHECK: %[[COUNT:.*]] = graph.reduce sum %[[ONES]] over [1]
  // CHECK-DAG: %[[EACH:.*]] = graph.div %[[DY]], %[[COUNT]] :
  // CHECK-DAG: %[[ALL:.*]] = graph.broadcast %[[EACH]] to [0]
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[IS]], %[[ALL]], %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.reduce max %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %weighted = graph.mul %y, %w : tensor<4xf32>
  %loss = graph.reduce sum %weighted over [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @equal_minima_share_the_gradient_evenly(
func.func @equal_minima_share_the_gradient_evenly(%x: tensor<4x8xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[SPREAD:.*]] = graph.broadcast %{{.*}} to [0] : tensor<4xf32> -> tensor<4x8xf32>
  // CHECK: %[[IS:.*]] = graph.compare eq %arg0, %[[SPREAD]] :
  // CHECK: %[[ONES:.*]] = graph.cast %[[IS]] :
  // CHECK: %[[COUNT:.*]] = graph.reduce sum %[[ONES]] over [1]
  // CHECK-DAG: %[[EACH:.*]] = graph.div %[[DY]], %[[COUNT]] :
  // CHECK-DAG: %[[ALL:.*]] = graph.broadcast %[[EACH]] to [0]
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[IS]], %[[ALL]], %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.reduce min %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %weighted = graph.mul %y, %w : tensor<4xf32>
  %loss = graph.reduce sum %weighted over [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_product_is_divided_by_the_element_unless_zeros_are_among_its_factors(
func.func @a_product_is_divided_by_the_element_unless_zeros_are_among_its_factors(%x: tensor<4x8xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[ISZERO:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK: %[[ONES:.*]] = graph.cast %[[ISZERO]] :
  // CHECK: %[[ZEROS:.*]] = graph.reduce sum %[[ONES]] over [1]
  // CHECK-DAG: %[[NONZERO:.*]] = graph.select %[[ISZERO]], %{{.*}}, %arg0
  // CHECK-DAG: %[[REST:.*]] = graph.reduce prod %[[NONZERO]] over [1]
  // CHECK-DAG: %[[SCALED:.*]] = graph.mul %[[DY]], %[[REST]] :
  // CHECK-DAG: %[[SINGLE:.*]] = graph.compare eq %[[ZEROS]], %{{.*}}
  // CHECK-DAG: %[[OFZERO:.*]] = graph.select %[[SINGLE]], %[[SCALED]], %{{.*}}
  // CHECK-DAG: %[[NONE:.*]] = graph.compare eq %[[ZEROS]], %{{.*}}
  // CHECK-DAG: %[[OFALL:.*]] = graph.select %[[NONE]], %[[SCALED]], %{{.*}}
  // CHECK-DAG: %[[SPREADZERO:.*]] = graph.broadcast %[[OFZERO]] to [0]
  // CHECK-DAG: %[[SPREADALL:.*]] = graph.broadcast %[[OFALL]] to [0]
  // CHECK-DAG: %[[OFOTHERS:.*]] = graph.div %[[SPREADALL]], %arg0
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[ISZERO]], %[[SPREADZERO]], %[[OFOTHERS]] :
  // CHECK: return %[[DX]], %
  %y = graph.reduce prod %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %weighted = graph.mul %y, %w : tensor<4xf32>
  %loss = graph.reduce sum %weighted over [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @gather_scatters_the_sum_along_its_dim(
func.func @gather_scatters_the_sum_along_its_dim(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %w: tensor<4x3xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[DX:.*]] = graph.scatter sum %[[DY]] at %arg1 dim 1 : tensor<4x3xf32>, tensor<3xi64> -> tensor<4x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.gather %x at %i dim 1 : tensor<4x8xf32>, tensor<3xi64> -> tensor<4x3xf32>
  %weighted = graph.mul %y, %w : tensor<4x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @scatter_sum_gathers(
func.func @scatter_sum_gathers(%x: tensor<5x8xf32>, %i: tensor<5xi64>, %w: tensor<9x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[DX:.*]] = graph.gather %[[DY]] at %arg1 dim 0 : tensor<9x8xf32>, tensor<5xi64> -> tensor<5x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.scatter sum %x at %i dim 0 : tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %weighted = graph.mul %y, %w : tensor<9x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<9x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @scatter_max_shares_the_gradient_among_equal_maxima(
func.func @scatter_max_shares_the_gradient_among_equal_maxima(%x: tensor<5x8xf32>, %i: tensor<5xi64>, %w: tensor<9x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[KEPT:.*]] = graph.gather %{{.*}} at %arg1 dim 0 : tensor<9x8xf32>, tensor<5xi64> -> tensor<5x8xf32>
  // CHECK: %[[IS:.*]] = graph.compare eq %arg0, %[[KEPT]] :
  // CHECK: %[[ONES:.*]] = graph.cast %[[IS]] :
  // CHECK: %[[COUNTS:.*]] = graph.scatter sum %[[ONES]] at %arg1 dim 0
  // CHECK: %[[COUNT:.*]] = graph.gather %[[COUNTS]] at %arg1 dim 0
  // CHECK-DAG: %[[ANY:.*]] = graph.compare gt %[[COUNT]], %{{.*}}
  // CHECK-DAG: %[[BACK:.*]] = graph.gather %[[DY]] at %arg1 dim 0
  // CHECK-DAG: %[[MINE:.*]] = graph.mul %[[ONES]], %[[BACK]] :
  // CHECK-DAG: %[[EACH:.*]] = graph.div %[[MINE]], %[[COUNT]] :
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[ANY]], %[[EACH]], %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.scatter max %x at %i dim 0 : tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %weighted = graph.mul %y, %w : tensor<9x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<9x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @scatter_min_shares_the_gradient_among_equal_minima(
func.func @scatter_min_shares_the_gradient_among_equal_minima(%x: tensor<5x8xf32>, %i: tensor<5xi64>, %w: tensor<9x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[KEPT:.*]] = graph.gather %{{.*}} at %arg1 dim 0 : tensor<9x8xf32>, tensor<5xi64> -> tensor<5x8xf32>
  // CHECK: %[[IS:.*]] = graph.compare eq %arg0, %[[KEPT]] :
  // CHECK: %[[ONES:.*]] = graph.cast %[[IS]] :
  // CHECK: %[[COUNTS:.*]] = graph.scatter sum %[[ONES]] at %arg1 dim 0
  // CHECK: %[[COUNT:.*]] = graph.gather %[[COUNTS]] at %arg1 dim 0
  // CHECK-DAG: %[[ANY:.*]] = graph.compare gt %[[COUNT]], %{{.*}}
  // CHECK-DAG: %[[BACK:.*]] = graph.gather %[[DY]] at %arg1 dim 0
  // CHECK-DAG: %[[MINE:.*]] = graph.mul %[[ONES]], %[[BACK]] :
  // CHECK-DAG: %[[EACH:.*]] = graph.div %[[MINE]], %[[COUNT]] :
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[ANY]], %[[EACH]], %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.scatter min %x at %i dim 0 : tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %weighted = graph.mul %y, %w : tensor<9x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<9x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @scatter_prod_divides_by_the_update_unless_zeros_are_among_them(
func.func @scatter_prod_divides_by_the_update_unless_zeros_are_among_them(%x: tensor<5x8xf32>, %i: tensor<5xi64>, %w: tensor<9x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK: %[[ISZERO:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK: %[[ONES:.*]] = graph.cast %[[ISZERO]] :
  // CHECK: %[[COUNTS:.*]] = graph.scatter sum %[[ONES]] at %arg1 dim 0
  // CHECK: %[[ZEROS:.*]] = graph.gather %[[COUNTS]] at %arg1 dim 0
  // CHECK-DAG: %[[NONZERO:.*]] = graph.select %[[ISZERO]], %{{.*}}, %arg0
  // CHECK-DAG: %[[PRODUCTS:.*]] = graph.scatter prod %[[NONZERO]] at %arg1 dim 0
  // CHECK-DAG: %[[SCALED:.*]] = graph.mul %[[DY]], %[[PRODUCTS]] :
  // CHECK-DAG: %[[REST:.*]] = graph.gather %[[SCALED]] at %arg1 dim 0
  // CHECK-DAG: %[[OFZERO:.*]] = graph.select %{{.*}}, %[[REST]], %{{.*}}
  // CHECK-DAG: %[[OFALL:.*]] = graph.select %{{.*}}, %[[REST]], %{{.*}}
  // CHECK-DAG: %[[OFOTHERS:.*]] = graph.div %{{.*}}, %[[NONZERO]] :
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[ISZERO]], %{{.*}}, %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.scatter prod %x at %i dim 0 : tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %weighted = graph.mul %y, %w : tensor<9x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<9x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_running_sum_runs_backwards(
func.func @a_running_sum_runs_backwards(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[BACK:.*]] = graph.reverse %[[DY]] dim 1
  // CHECK: %[[SUMS:.*]] = graph.scan sum %[[BACK]] dim 1
  // CHECK: %[[DX:.*]] = graph.reverse %[[SUMS]] dim 1
  // CHECK: return %[[DX]], %
  %y = graph.scan sum %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_running_maximum_scatters_to_the_last_record(
func.func @a_running_maximum_scatters_to_the_last_record(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[POSITION:.*]] = graph.iota dim 1 : tensor<4x8xi64>
  // CHECK-DAG: %[[IS:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK-DAG: %[[AT:.*]] = graph.select %[[IS]], %[[POSITION]], %{{.*}}
  // CHECK: %[[RECORD:.*]] = graph.scan max %[[AT]] dim 1
  // CHECK: %[[DX:.*]] = graph.scatter sum %[[DY]] at %[[RECORD]] dim 1 {batch = 1 : i64}
  // CHECK: return %[[DX]], %
  %y = graph.scan max %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_running_minimum_scatters_to_the_last_record(
func.func @a_running_minimum_scatters_to_the_last_record(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[POSITION:.*]] = graph.iota dim 1 : tensor<4x8xi64>
  // CHECK-DAG: %[[IS:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK-DAG: %[[AT:.*]] = graph.select %[[IS]], %[[POSITION]], %{{.*}}
  // CHECK: %[[RECORD:.*]] = graph.scan max %[[AT]] dim 1
  // CHECK: %[[DX:.*]] = graph.scatter sum %[[DY]] at %[[RECORD]] dim 1 {batch = 1 : i64}
  // CHECK: return %[[DX]], %
  %y = graph.scan min %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_running_product_divides_the_products_from_each_element_on(
func.func @a_running_product_divides_the_products_from_each_element_on(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[ISZERO:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK: %[[ONES:.*]] = graph.cast %[[ISZERO]] :
  // CHECK: %[[ZEROS:.*]] = graph.scan sum %[[ONES]] dim 1
  // CHECK-DAG: %[[WITHOUT:.*]] = graph.scan prod %{{.*}} dim 1
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[DY]], %[[WITHOUT]] :
  // CHECK-DAG: %[[PARTBACK:.*]] = graph.reverse %[[PART]] dim 1
  // CHECK-DAG: %[[PARTSUM:.*]] = graph.scan sum %[[PARTBACK]] dim 1
  // CHECK-DAG: %[[WHOLE:.*]] = graph.mul %[[DY]], %{{.*}}
  // CHECK-DAG: %[[WHOLEBACK:.*]] = graph.reverse %[[WHOLE]] dim 1
  // CHECK-DAG: %[[WHOLESUM:.*]] = graph.scan sum %[[WHOLEBACK]] dim 1
  // CHECK-DAG: %[[OTHERS:.*]] = graph.reverse %[[WHOLESUM]] dim 1
  // CHECK-DAG: %[[QUOTIENT:.*]] = graph.div %[[OTHERS]], %{{.*}}
  // CHECK: %[[DX:.*]] = graph.select %{{.*}}, %[[QUOTIENT]], %{{.*}}
  // CHECK: return %[[DX]], %
  %y = graph.scan prod %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @sort_scatters_along_its_indices(
func.func @sort_scatters_along_its_indices(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.scatter sum %[[DY]] at %indices dim 1 {batch = 1 : i64}
  // CHECK: return %[[DX]], %
  %y, %i = graph.sort %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @sort_along_an_outer_dim_scatters_between_transposes(
func.func @sort_along_an_outer_dim_scatters_between_transposes(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK-DAG: %[[UPDATES:.*]] = graph.transpose %[[DY]] by [1, 0]
  // CHECK-DAG: %[[AT:.*]] = graph.transpose %indices by [1, 0]
  // CHECK: %[[SUM:.*]] = graph.scatter sum %[[UPDATES]] at %[[AT]] dim 1 {batch = 1 : i64}
  // CHECK: %[[DX:.*]] = graph.transpose %[[SUM]] by [1, 0]
  // CHECK: return %[[DX]], %
  %y, %i = graph.sort %x dim 0 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @accumulation_passes_its_gradient_on(
func.func @accumulation_passes_its_gradient_on(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: return %[[DY]], %
  %y = graph.accumulate %x count 4 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
