// Which op computes in which type, in bf16: one function per rule of passes/precision/Precision.h.
// RUN: cleave-opt --split-input-file --cleave-precision %s | FileCheck %s

// CHECK-LABEL: func @a_product_multiplies_bf16_and_the_result_of_the_step_stays_f32
// CHECK: %[[X:.*]] = graph.cast %arg0 : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[W:.*]] = graph.cast %arg1 : tensor<8x3xf32> -> tensor<8x3xbf16>
// CHECK: %[[Y:.*]] = graph.dot_general %[[X]], %[[W]] {{.*}} -> tensor<4x3xbf16>
// CHECK: graph.cast %[[Y]] : tensor<4x3xbf16> -> tensor<4x3xf32>
func.func @a_product_multiplies_bf16_and_the_result_of_the_step_stays_f32(
    %x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @a_norm_computes_f32
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<4x3xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<4x3xbf16> -> tensor<4x3xf32>
// CHECK: graph.softmax %[[WIDE]] dim 1 : tensor<4x3xf32>
func.func @a_norm_computes_f32(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.softmax %0 dim 1 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @other_ops_follow_their_operands
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<4x3xbf16>
// CHECK: %[[G:.*]] = graph.gelu %[[Y]] : tensor<4x3xbf16>
// CHECK: %[[T:.*]] = graph.transpose %[[G]] {{.*}} tensor<4x3xbf16> -> tensor<3x4xbf16>
func.func @other_ops_follow_their_operands(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<3x4xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.gelu %0 : tensor<4x3xf32>
  %2 = graph.transpose %1 by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @operands_of_two_types_meet_in_f32
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<4x8xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: graph.add %arg0, %[[WIDE]] : tensor<4x8xf32>
func.func @operands_of_two_types_meet_in_f32(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = graph.add %x, %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @a_number_has_no_say
// CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<4x3xbf16>
func.func @a_number_has_no_say(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %half = graph.constant dense<0.5> : tensor<4x3xf32>
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.mul %0, %half : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @a_number_that_bf16_does_not_have_is_not_rounded
// CHECK: %[[Y:.*]] = graph.dot_general {{.*}} -> tensor<4x3xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<4x3xbf16> -> tensor<4x3xf32>
// CHECK: %[[Z:.*]] = graph.mul %[[WIDE]], %{{.*}} : tensor<4x3xf32>
// CHECK: graph.cast %[[Z]] : tensor<4x3xf32> -> tensor<4x3xbf16>
func.func @a_number_that_bf16_does_not_have_is_not_rounded(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %part = graph.constant dense<0.3> : tensor<4x3xf32>
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.mul %0, %part : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @a_number_that_is_computed_is_not_rounded
// CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<4x3xf32>
// CHECK: graph.cast %{{.*}} : tensor<4x3xf32> -> tensor<4x3xbf16>
func.func @a_number_that_is_computed_is_not_rounded(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %n: tensor<f32>) -> tensor<4x3xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.broadcast %n to [] : tensor<f32> -> tensor<4x3xf32>
  %2 = graph.mul %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @a_number_that_values_are_compared_with_is_rounded
// CHECK: graph.compare {{.*}} : tensor<4x3xbf16>
func.func @a_number_that_values_are_compared_with_is_rounded(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xi1> {
  %part = graph.constant dense<0.3> : tensor<4x3xf32>
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.compare gt %0, %part : tensor<4x3xf32>
  return %1 : tensor<4x3xi1>
}

// -----

// CHECK-LABEL: func @the_bias_of_a_product_has_no_say
// CHECK: graph.add %{{.*}}, %{{.*}} : tensor<4x3xbf16>
func.func @the_bias_of_a_product_has_no_say(
    %x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"},
    %w: tensor<8x3xf32> {graph.name = "w", graph.role = "parameter"},
    %b: tensor<3xf32> {graph.name = "b", graph.role = "parameter"}) -> tensor<4x3xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.broadcast %b to [1] : tensor<3xf32> -> tensor<4x3xf32>
  %2 = graph.add %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// The same vector in a product of elements, as a scale of layers has it, is no bias.
// CHECK-LABEL: func @a_scale_is_f32
// CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<4x3xf32>
func.func @a_scale_is_f32(
    %x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"},
    %w: tensor<8x3xf32> {graph.name = "w", graph.role = "parameter"},
    %b: tensor<3xf32> {graph.name = "b", graph.role = "parameter"}) -> tensor<4x3xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %1 = graph.broadcast %b to [1] : tensor<3xf32> -> tensor<4x3xf32>
  %2 = graph.mul %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @attention_keeps_its_log_sum_exp_f32
// CHECK: graph.attention %{{.*}} -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
func.func @attention_keeps_its_log_sum_exp_f32(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  return %0 : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func @other_types_of_the_model_stay
// CHECK-NOT: graph.cast
func.func @other_types_of_the_model_stay(%x: tensor<4x8xf64>, %w: tensor<8x3xf64>) -> tensor<4x3xf64> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf64>, tensor<8x3xf64> -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

// -----

// The readers of a bf16 value in f32 share one cast, behind which their gradients are added in f32. Each
// reader of an f32 value in bf16 has its own.
// CHECK-LABEL: func @casts_to_f32_are_shared
// CHECK: %[[X:.*]] = graph.cast %arg0 : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[Y:.*]] = graph.dot_general %[[X]], {{.*}} -> tensor<4x8xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = graph.softmax %[[WIDE]] dim 1
// CHECK: %[[T:.*]] = graph.softmax %[[WIDE]] dim 0
// CHECK: %[[SUM:.*]] = graph.add %[[S]], %[[T]] : tensor<4x8xf32>
// CHECK-COUNT-2: graph.cast %[[SUM]] : tensor<4x8xf32> -> tensor<4x8xbf16>
func.func @casts_to_f32_are_shared(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = graph.softmax %0 dim 1 : tensor<4x8xf32>
  %2 = graph.softmax %0 dim 0 : tensor<4x8xf32>
  %3 = graph.add %1, %2 : tensor<4x8xf32>
  %4 = graph.dot_general %3, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %5 = graph.dot_general %3, %w batch [] x [] contract [1] x [1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Batch norm computes in f32 and gives the type that its operand had; statistics stay f32.
// CHECK-LABEL: func @batch_norm_keeps_the_low_type
// CHECK: %[[WIDE:.*]] = graph.cast %{{.*}} : tensor<4x8x3x3xbf16> -> tensor<4x8x3x3xf32>
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %[[WIDE]], {{.*}} : tensor<4x8x3x3xf32>, tensor<8xf32>
// CHECK: %[[LOW:.*]] = graph.cast %[[Y]] : tensor<4x8x3x3xf32> -> tensor<4x8x3x3xbf16>
// CHECK: graph.relu %[[LOW]] : tensor<4x8x3x3xbf16>
// CHECK: graph.batch_norm %arg0, {{.*}} : tensor<4x8x3x3xf32>
// CHECK: graph.relu %{{.*}} : tensor<4x8x3x3xf32>
func.func @batch_norm_keeps_the_low_type(%x: tensor<4x8x3x3xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>)
    -> (tensor<4x8x3x3xf32>, tensor<8xf32>, tensor<4x8x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, groups = 1 : i64} : tensor<4x8x3x3xf32>, tensor<8x8x1x1xf32> -> tensor<4x8x3x3xf32>
  %1:3 = graph.batch_norm %0, %c, %c running %c, %c {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<4x8x3x3xf32>, tensor<8xf32>
  %2 = graph.relu %1#0 : tensor<4x8x3x3xf32>
  %3:3 = graph.batch_norm %x, %c, %c running %c, %c {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : tensor<4x8x3x3xf32>, tensor<8xf32>
  %4 = graph.relu %3#0 : tensor<4x8x3x3xf32>
  return %2, %1#1, %4 : tensor<4x8x3x3xf32>, tensor<8xf32>, tensor<4x8x3x3xf32>
}
