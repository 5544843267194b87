// Convolutions that cuDNN may have no engines for get kernels of their own; with `all` every one.
// RUN: cleave-opt --cleave-decompose-direct-convolutions %s | FileCheck %s
// RUN: cleave-opt --cleave-decompose-direct-convolutions=all=true %s | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: @equal_padding_at_both_ends_is_left_to_the_library
// ALL-LABEL: @equal_padding_at_both_ends_is_left_to_the_library
func.func @equal_padding_at_both_ends_is_left_to_the_library(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x8xf32> {
  // CHECK: graph.conv
  // CHECK-NOT: graph.direct
  // CHECK: return
  // ALL: graph.conv {{.*}}graph.direct
  %y = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x3x8xf32>, tensor<4x3x3xf32> -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: @gradients_with_uneven_padding
func.func @gradients_with_uneven_padding(%x: tensor<2x3x8xf32>, %w: tensor<4x3x2xf32>, %dy: tensor<2x4x8xf32>) -> (tensor<2x3x8xf32>, tensor<4x3x2xf32>) {
  // CHECK: graph.conv_input_grad {{.*}}graph.direct
  %dx = graph.conv_input_grad %dy, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<4x3x2xf32> -> tensor<2x3x8xf32>
  // CHECK: graph.conv_weight_grad {{.*}}graph.direct
  %dw = graph.conv_weight_grad %dy, %x {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<2x3x8xf32> -> tensor<4x3x2xf32>
  return %dx, %dw : tensor<2x3x8xf32>, tensor<4x3x2xf32>
}

// CHECK-LABEL: @negative_padding
func.func @negative_padding(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  // CHECK: graph.conv {{.*}}graph.direct
  %y = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: -1>, pads_high = array<i64: -1>, groups = 1 : i64} : tensor<2x3x8xf32>, tensor<4x3x3xf32> -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// CHECK-LABEL: @four_spatial_dims
func.func @four_spatial_dims(%x: tensor<1x1x2x2x2x2xf32>, %w: tensor<1x1x2x2x2x2xf32>) -> tensor<1x1x1x1x1x1xf32> {
  // CHECK: graph.conv {{.*}}graph.direct
  %y = graph.conv %x, %w {strides = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, pads_low = array<i64: 0, 0, 0, 0>, pads_high = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : tensor<1x1x2x2x2x2xf32>, tensor<1x1x2x2x2x2xf32> -> tensor<1x1x1x1x1x1xf32>
  return %y : tensor<1x1x1x1x1x1xf32>
}
