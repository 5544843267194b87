// The variants of each op: attributes that are there or not, and defaults that are not printed.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK-LABEL: @a_default_is_not_printed
func.func @a_default_is_not_printed(%x: tensor<4x3xf32>, %i: tensor<5xi64>, %l: tensor<4xi64>) -> tensor<f32> {
  // CHECK-NEXT: graph.gather %arg0 at %arg1 dim 0 : tensor
  %0 = graph.gather %x at %i dim 0 {batch = 0 : i64} : tensor<4x3xf32>, tensor<5xi64> -> tensor<5x3xf32>
  // CHECK-NEXT: graph.scatter sum %0 at %arg1 dim 0 : tensor
  %1 = graph.scatter sum %0 at %i dim 0 {batch = 0 : i64} : tensor<5x3xf32>, tensor<5xi64> -> tensor<4x3xf32>
  // CHECK-NEXT: graph.pad %1 dim 0 low 0 : tensor
  %2 = graph.pad %1 dim 0 low 0 {interior = 0 : i64, value = 0.0 : f64} : tensor<4x3xf32> -> tensor<4x3xf32>
  // CHECK-NEXT: graph.sizes ["4"] : tensor<1xi64>
  %3 = graph.sizes ["4"] {divisor = "1"} : tensor<1xi64>
  // CHECK-NEXT: graph.softmax_cross_entropy %2, %arg2 : tensor
  %4 = graph.softmax_cross_entropy %2, %l {ignore_index = -100 : i64} : tensor<4x3xf32>, tensor<4xi64> -> tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @what_is_no_default_is_printed
func.func @what_is_no_default_is_printed(%x: tensor<2x4x3xf32>, %i: tensor<2x5xi64>, %l: tensor<2x4xi64>) -> tensor<f32> {
  // CHECK-NEXT: graph.gather %arg0 at %arg1 dim 1 {batch = 1 : i64}
  %0 = graph.gather %x at %i dim 1 {batch = 1 : i64} : tensor<2x4x3xf32>, tensor<2x5xi64> -> tensor<2x5x3xf32>
  // CHECK-NEXT: graph.scatter max %0 at %arg1 dim 1 {batch = 1 : i64}
  %1 = graph.scatter max %0 at %i dim 1 {batch = 1 : i64} : tensor<2x5x3xf32>, tensor<2x5xi64> -> tensor<2x4x3xf32>
  // CHECK-NEXT: graph.pad %1 dim 2 low 1 {interior = 2 : i64, value = -1.000000e+00 : f64}
  %2 = graph.pad %1 dim 2 low 1 {interior = 2 : i64, value = -1.0 : f64} : tensor<2x4x3xf32> -> tensor<2x4x9xf32>
  // CHECK-NEXT: graph.sizes ["4*n", "n"] {divisor = "n"} : tensor<2xf32>
  %3 = graph.sizes ["4*n", "n"] {divisor = "n"} : tensor<2xf32>
  // CHECK-NEXT: graph.softmax_cross_entropy %2, %arg2 {ignore_index = 0 : i64}
  %4 = graph.softmax_cross_entropy %2, %l {ignore_index = 0 : i64} : tensor<2x4x9xf32>, tensor<2x4xi64> -> tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @every_kind_of_reduction
func.func @every_kind_of_reduction(%x: tensor<4x3x2xi32>, %i: tensor<4xi32>) -> tensor<i32> {
  // CHECK-NEXT: graph.reduce sum %arg0 over [] : tensor<4x3x2xi32> -> tensor<4x3x2xi32>
  %0 = graph.reduce sum %x over [] : tensor<4x3x2xi32> -> tensor<4x3x2xi32>
  // CHECK-NEXT: graph.reduce min %0 over [2] : tensor<4x3x2xi32> -> tensor<4x3xi32>
  %1 = graph.reduce min %0 over [2] : tensor<4x3x2xi32> -> tensor<4x3xi32>
  // CHECK-NEXT: graph.scan prod %1 dim 1 : tensor<4x3xi32>
  %2 = graph.scan prod %1 dim 1 : tensor<4x3xi32>
  // CHECK-NEXT: graph.scatter min %2 at %arg1 dim 0
  %3 = graph.scatter min %2 at %i dim 0 : tensor<4x3xi32>, tensor<4xi32> -> tensor<4x3xi32>
  // CHECK-NEXT: graph.reduce prod %3 over [1, 0] : tensor<4x3xi32> -> tensor<i32>
  %4 = graph.reduce prod %3 over [1, 0] : tensor<4x3xi32> -> tensor<i32>
  return %4 : tensor<i32>
}

// CHECK-LABEL: @a_sort_in_each_direction
func.func @a_sort_in_each_direction(%x: tensor<4x3xi1>) -> (tensor<4x3xi1>, tensor<4x3xi64>) {
  // CHECK-NEXT: %[[A:.*]], %{{.*}} = graph.sort %arg0 dim 0 : tensor<4x3xi1>
  %0, %1 = graph.sort %x dim 0 : tensor<4x3xi1>
  // CHECK-NEXT: graph.sort %[[A]] dim 1 {descending} : tensor<4x3xi1>
  %2, %3 = graph.sort %0 dim 1 {descending} : tensor<4x3xi1>
  return %2, %3 : tensor<4x3xi1>, tensor<4x3xi64>
}

// CHECK-LABEL: @moves_of_every_kind_of_element
func.func @moves_of_every_kind_of_element(%x: tensor<4x3xui8>, %n: tensor<i1>) -> (tensor<6x4xui8>, tensor<2xi1>) {
  // CHECK-NEXT: graph.reverse %arg0 dim 1 : tensor<4x3xui8>
  %0 = graph.reverse %x dim 1 : tensor<4x3xui8>
  // CHECK-NEXT: graph.transpose %0 by [1, 0] : tensor<4x3xui8> -> tensor<3x4xui8>
  %1 = graph.transpose %0 by [1, 0] : tensor<4x3xui8> -> tensor<3x4xui8>
  // CHECK-NEXT: graph.concat %1, %1 dim 0 : tensor<3x4xui8>, tensor<3x4xui8> -> tensor<6x4xui8>
  %2 = graph.concat %1, %1 dim 0 : tensor<3x4xui8>, tensor<3x4xui8> -> tensor<6x4xui8>
  // CHECK-NEXT: graph.broadcast %arg1 to [] : tensor<i1> -> tensor<2xi1>
  %3 = graph.broadcast %n to [] : tensor<i1> -> tensor<2xi1>
  return %2, %3 : tensor<6x4xui8>, tensor<2xi1>
}

// CHECK-LABEL: @a_tensor_without_elements_is_moved
func.func @a_tensor_without_elements_is_moved(%x: tensor<4x0xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: graph.reshape %arg0 : tensor<4x0xf32> -> tensor<0x7xf32>
  %0 = graph.reshape %x : tensor<4x0xf32> -> tensor<0x7xf32>
  // CHECK-NEXT: graph.slice %arg0 dim 1 from 5 step 1 : tensor<4x0xf32> -> tensor<4x0xf32>
  %1 = graph.slice %x dim 1 from 5 step 1 : tensor<4x0xf32> -> tensor<4x0xf32>
  // CHECK-NEXT: graph.pad %1 dim 1 low 2 {interior = 1 : i64} : tensor<4x0xf32> -> tensor<4x2xf32>
  %2 = graph.pad %1 dim 1 low 2 {interior = 1 : i64} : tensor<4x0xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: graph.concat %arg0, %arg1 dim 1
  %3 = graph.concat %x, %y dim 1 : tensor<4x0xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}

// CHECK-LABEL: @constants_of_every_kind
func.func @constants_of_every_kind() -> tensor<2xi1> {
  // CHECK-NEXT: graph.constant dense<[true, false]> : tensor<2xi1>
  %0 = graph.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT: graph.constant dense<255> : tensor<2xui8>
  %1 = graph.constant dense<255> : tensor<2xui8>
  // CHECK-NEXT: graph.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xbf16>
  %2 = graph.constant dense<[1.0, -0.0]> : tensor<2xbf16>
  // CHECK-NEXT: graph.constant dense<> : tensor<0x4xf32>
  %3 = graph.constant dense<> : tensor<0x4xf32>
  // CHECK-NEXT: graph.constant dense<0x7FC00000> : tensor<f32>
  %4 = graph.constant dense<0x7FC00000> : tensor<f32>
  // CHECK-NEXT: graph.iota dim 0 : tensor<3xui16>
  %5 = graph.iota dim 0 : tensor<3xui16>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: @pooling_of_each_kind
func.func @pooling_of_each_kind(%x: tensor<1x3x8xf32>) -> tensor<1x3x8xf32> {
  // CHECK-NEXT: graph.pool max %arg0 {dilations = array<i64: 1>, kernel = array<i64: 2>, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 2>}
  %0 = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>}
    : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  // CHECK-NEXT: graph.pool average %arg0 {count_padding, dilations
  %1 = graph.pool average %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, count_padding}
    : tensor<1x3x8xf32> -> tensor<1x3x5xf32>
  // CHECK-NEXT: graph.pool_grad average %1, %arg0
  %2 = graph.pool_grad average %1, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>}
    : tensor<1x3x5xf32>, tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return %2 : tensor<1x3x8xf32>
}

// CHECK-LABEL: @a_convolution_in_two_dims_and_groups
func.func @a_convolution_in_two_dims_and_groups(%x: tensor<1x4x5x7xf32>, %w: tensor<6x2x3x2xf32>) -> tensor<1x6x3x4xf32> {
  // CHECK-NEXT: graph.conv %arg0, %arg1 {dilations = array<i64: 2, 1>, groups = 2 : i64, pads_high = array<i64: 0, 1>, pads_low = array<i64: 2, 0>, strides = array<i64: 1, 2>}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 2>, dilations = array<i64: 2, 1>, pads_low = array<i64: 2, 0>, pads_high = array<i64: 0, 1>, groups = 2 : i64}
    : tensor<1x4x5x7xf32>, tensor<6x2x3x2xf32> -> tensor<1x6x3x4xf32>
  return %0 : tensor<1x6x3x4xf32>
}

// CHECK-LABEL: @an_attention_with_all_it_can_have
func.func @an_attention_with_all_it_can_have(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>,
                                             %b: tensor<2x4x5x6xf32>, %m: tensor<2x4x5x6xi1>, %s: tensor<i64>) -> tensor<2x4x5x3xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 bias %arg3 mask %arg4 seed %arg5 {causal, dropout = 1.000000e-01 : f64, fill = -1.000000e+04 : f64, safe, scale = 5.000000e-01 : f64}
  %0, %lse_0 = graph.attention %q, %k, %v bias %b mask %m seed %s {scale = 0.5 : f64, causal, safe, fill = -1.0e+04 : f64, dropout = 0.1 : f64}
    : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5x6xi1>, tensor<i64>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5xf32>)
  return %0 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: @a_block_of_an_attention_and_its_gradients
func.func @a_block_of_an_attention_and_its_gradients(%q: tensor<4x5x8xf32>, %b: tensor<1x5x1xf32>, %m: tensor<1x1x5xi1>, %s: tensor<i64>, %o: tensor<i64>) -> tensor<1x5x1xf32> {
  // CHECK-NEXT: %[[Y:.*]], %[[L:.*]] = graph.attention %arg0, %arg0, %arg0 bias %arg1 mask %arg2 seed %arg3 at %arg4, %arg4 {causal, dropout = 1.000000e-01 : f64, offset_dims = array<i64: 0, 1>, scale = 5.000000e-01 : f64, whole = array<i64: 8, 9, 5>}
  %y, %lse = graph.attention %q, %q, %q bias %b mask %m seed %s at %o, %o {scale = 0.5 : f64, causal, dropout = 0.1 : f64, offset_dims = array<i64: 0, 1>, whole = array<i64: 8, 9, 5>}
    : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<1x5x1xf32>, tensor<1x1x5xi1>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
  // CHECK-NEXT: graph.attention_grad %arg0, %arg0, %arg0, %[[Y]], %[[L]], %arg0 bias %arg1 mask %arg2 seed %arg3 at %arg4, %arg4 {causal, dropout = 1.000000e-01 : f64, offset_dims = array<i64: 0, 1>, scale = 5.000000e-01 : f64, whole = array<i64: 8, 9, 5>}
  %dq, %dk, %dv, %db = graph.attention_grad %q, %q, %q, %y, %lse, %q bias %b mask %m seed %s at %o, %o {scale = 0.5 : f64, causal, dropout = 0.1 : f64, offset_dims = array<i64: 0, 1>, whole = array<i64: 8, 9, 5>}
    : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5xf32>, tensor<4x5x8xf32>, tensor<1x5x1xf32>, tensor<1x1x5xi1>, tensor<i64>, tensor<i64>, tensor<i64>)
    -> (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<1x5x1xf32>)
  return %db : tensor<1x5x1xf32>
}

// CHECK-LABEL: @an_attention_with_a_mask_only
func.func @an_attention_with_a_mask_only(%q: tensor<3x5x8xf32>, %m: tensor<3x5x5xi1>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: graph.attention %arg0, %arg0, %arg0 mask %arg1 {scale
  %0, %lse_0 = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64}
    : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xi1>) -> (tensor<3x5x8xf32>, tensor<3x5xf32>)
  return %0 : tensor<3x5x8xf32>
}

// CHECK-LABEL: @a_rotation_of_each_kind
func.func @a_rotation_of_each_kind(%x: tensor<3x8xf16>) -> tensor<3x8xf16> {
  // CHECK-NEXT: graph.rotary %arg0, %arg0, %arg0 : tensor<3x8xf16>
  %0 = graph.rotary %x, %x, %x : tensor<3x8xf16>
  // CHECK-NEXT: graph.rotary %0, %arg0, %arg0 {interleaved} : tensor<3x8xf16>
  %1 = graph.rotary %0, %x, %x {interleaved} : tensor<3x8xf16>
  return %1 : tensor<3x8xf16>
}

// CHECK-LABEL: @normalisations_over_several_dims
func.func @normalisations_over_several_dims(%x: tensor<2x4x8xf32>, %s: tensor<4x8xf32>, %c: tensor<4xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: graph.softmax %arg0 dim 0 : tensor<2x4x8xf32>
  %0 = graph.softmax %x dim 0 : tensor<2x4x8xf32>
  // CHECK-NEXT: graph.log_softmax %0 dim 2 : tensor<2x4x8xf32>
  %1 = graph.log_softmax %0 dim 2 : tensor<2x4x8xf32>
  // CHECK-NEXT: graph.layer_norm %1, %arg1, %arg1 {epsilon = {{.*}}} : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  %2 = graph.layer_norm %1, %s, %s {epsilon = 1.0e-05 : f64} : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK-NEXT: graph.rms_norm %2, %arg1 {epsilon = {{.*}}} : tensor<2x4x8xf32>, tensor<4x8xf32>
  %3 = graph.rms_norm %2, %s {epsilon = 1.0e-05 : f64} : tensor<2x4x8xf32>, tensor<4x8xf32>
  // CHECK-NEXT: graph.batch_norm %3, %arg2, %arg2 running %arg2, %arg2 {epsilon = {{.*}}, momentum = {{.*}}} : tensor<2x4x8xf32>, tensor<4xf32>
  %4:3 = graph.batch_norm %3, %c, %c running %c, %c {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<2x4x8xf32>, tensor<4xf32>
  return %4#0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: @a_sum_over_micro_batches
func.func @a_sum_over_micro_batches(%g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.accumulate %arg0 count 1 : tensor<4xf32>
  %0 = graph.accumulate %g count 1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_group_of_two_results
func.func @a_group_of_two_results(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: %[[G:.*]]:2 = graph.fusion (%[[A:.*]] = %arg0 : tensor<4xf32>, %[[B:.*]] = %arg1 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: graph.add %[[A]], %[[B]]
  %0:2 = graph.fusion (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
    %1 = graph.add %a, %b : tensor<4xf32>
    %2 = graph.compare lt %a, %b : tensor<4xf32>
    // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi1>
    graph.yield %1, %2 : tensor<4xf32>, tensor<4xi1>
  // CHECK-NEXT: } {name = "group"}
  } {name = "group"}
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @a_group_without_operands
func.func @a_group_without_operands() -> tensor<4xi64> {
  // CHECK-NEXT: graph.fusion () -> (tensor<4xi64>) {
  %0 = graph.fusion () -> (tensor<4xi64>) {
    %1 = graph.iota dim 0 : tensor<4xi64>
    graph.yield %1 : tensor<4xi64>
  }
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: @a_group_without_results
func.func @a_group_without_results(%x: tensor<4xf32>) {
  // CHECK-NEXT: graph.fusion (%{{.*}} = %arg0 : tensor<4xf32>) -> () {
  // CHECK-NEXT: graph.yield
  // CHECK-NEXT: }
  graph.fusion (%a = %x : tensor<4xf32>) -> () {
    graph.yield
  }
  return
}
