// On GPUs, reductions to few results take two kernels.
// RUN: cleave-opt --cleave-decompose-long-reductions %s | FileCheck %s

// CHECK-LABEL: @a_sum_over_all_elements_goes_over_rows_first
func.func @a_sum_over_all_elements_goes_over_rows_first(%x: tensor<4096x1024xf32>) -> tensor<f32> {
  // CHECK: %[[R:.*]] = graph.reduce sum %arg0 over [1] : tensor<4096x1024xf32> -> tensor<4096xf32>
  // CHECK: %[[S:.*]] = graph.reduce sum %[[R]] over [0] : tensor<4096xf32> -> tensor<f32>
  // CHECK: return %[[S]]
  %y = graph.reduce sum %x over [0, 1] : tensor<4096x1024xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// The major dims are those that make enough blocks.
// CHECK-LABEL: @the_fewest_major_dims_that_make_enough_rows
func.func @the_fewest_major_dims_that_make_enough_rows(%x: tensor<4x64x1024x64xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %arg0 over [2, 3] : tensor<4x64x1024x64xf32> -> tensor<4x64xf32>
  // CHECK: graph.reduce sum %{{.*}} over [0, 1] : tensor<4x64xf32> -> tensor<f32>
  %y = graph.reduce sum %x over [0, 1, 2, 3] : tensor<4x64x1024x64xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @a_result_of_65536_operands_takes_two_steps
func.func @a_result_of_65536_operands_takes_two_steps(%x: tensor<256x256xf32>, %y: tensor<256x255xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: graph.reduce sum %arg0 over [1]
  // CHECK: graph.reduce sum %arg1 over [0, 1]
  %a = graph.reduce sum %x over [0, 1] : tensor<256x256xf32> -> tensor<f32>
  %b = graph.reduce sum %y over [0, 1] : tensor<256x255xf32> -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @sixteen_bit_floats_are_rounded_once
func.func @sixteen_bit_floats_are_rounded_once(%x: tensor<4096x1024xbf16>) -> tensor<bf16> {
  // CHECK: %[[W:.*]] = graph.cast %arg0 : tensor<4096x1024xbf16> -> tensor<4096x1024xf32>
  // CHECK: %[[R:.*]] = graph.reduce sum %[[W]] over [1]
  // CHECK: %[[S:.*]] = graph.reduce sum %[[R]] over [0]
  // CHECK: graph.cast %[[S]] : tensor<f32> -> tensor<bf16>
  %y = graph.reduce sum %x over [0, 1] : tensor<4096x1024xbf16> -> tensor<bf16>
  return %y : tensor<bf16>
}

// The program sums columns in parts (passes/bufferize/ColumnParts.h).
// CHECK-LABEL: @columns_are_left
func.func @columns_are_left(%x: tensor<16x1024x768xf32>) -> tensor<768xf32> {
  // CHECK: graph.reduce sum %arg0 over [0, 1]
  %a = graph.reduce sum %x over [0, 1] : tensor<16x1024x768xf32> -> tensor<768xf32>
  return %a : tensor<768xf32>
}

// Small operands, many results and single dims take one kernel.
// CHECK-LABEL: @one_kernel
func.func @one_kernel(%x: tensor<64x16xf32>, %y: tensor<64x4096x16384xf32>, %z: tensor<262144xf32>) -> (tensor<f32>, tensor<16384xf32>, tensor<f32>) {
  // CHECK: graph.reduce sum %arg0 over [0, 1]
  // CHECK-NEXT: graph.reduce sum %arg1 over [0, 1]
  // CHECK-NEXT: graph.reduce sum %arg2 over [0]
  // CHECK-NEXT: return
  %a = graph.reduce sum %x over [0, 1] : tensor<64x16xf32> -> tensor<f32>
  %b = graph.reduce sum %y over [0, 1] : tensor<64x4096x16384xf32> -> tensor<16384xf32>
  %c = graph.reduce sum %z over [0] : tensor<262144xf32> -> tensor<f32>
  return %a, %b, %c : tensor<f32>, tensor<16384xf32>, tensor<f32>
}

// 16-bit convolutions give channels-last tensors, whose channels are columns.
// CHECK-LABEL: @channels_of_a_convolution_are_columns
func.func @channels_of_a_convolution_are_columns(%x: tensor<256x8x56x56xbf16>, %w: tensor<2x8x1x1xbf16>) -> tensor<2xf32> {
  // CHECK: graph.reduce sum %{{.*}} over [0, 2, 3] : tensor<256x2x56x56xf32> -> tensor<2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<256x8x56x56xbf16>, tensor<2x8x1x1xbf16> -> tensor<256x2x56x56xbf16>
  %1 = graph.cast %0 : tensor<256x2x56x56xbf16> -> tensor<256x2x56x56xf32>
  %2 = graph.reduce sum %1 over [0, 2, 3] : tensor<256x2x56x56xf32> -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// CHECK-LABEL: @channels_of_other_tensors_are_rows
func.func @channels_of_other_tensors_are_rows(%x: tensor<256x2x56x56xf32>) -> tensor<2xf32> {
  // CHECK: graph.reduce sum %arg0 over [2, 3]
  // CHECK: graph.reduce sum %{{.*}} over [0]
  %0 = graph.reduce sum %x over [0, 2, 3] : tensor<256x2x56x56xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @short_rows_of_other_tensors_are_summed_at_once
func.func @short_rows_of_other_tensors_are_summed_at_once(%x: tensor<256x2x7x7xf32>) -> tensor<2xf32> {
  // CHECK: graph.reduce sum %arg0 over [0, 2, 3]
  %0 = graph.reduce sum %x over [0, 2, 3] : tensor<256x2x7x7xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
