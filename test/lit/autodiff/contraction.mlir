// Gradients of contractions, norms and losses. The loss is the sum of the result times w, so that
// the gradient of the result is DY = 1 w.
// RUN: cleave-opt --cleave-autodiff-gradients %s | FileCheck %s

// CHECK-LABEL: @conv_has_a_gradient_op_for_each_operand(
func.func @conv_has_a_gradient_op_for_each_operand(%x: tensor<2x3x8xf32>, %k: tensor<4x3x3xf32>, %w: tensor<2x4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[DX:.*]] = graph.conv_input_grad %[[DY]], %arg1 {{.*}} -> tensor<2x3x8xf32>
  // CHECK-DAG: %[[DK:.*]] = graph.conv_weight_grad %[[DY]], %arg0 {{.*}} -> tensor<4x3x3xf32>
  // CHECK: return %[[DX]], %[[DK]], %
  %y = graph.conv %x, %k {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x3x8xf32>, tensor<4x3x3xf32> -> tensor<2x4x8xf32>
  %weighted = graph.mul %y, %w : tensor<2x4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @conv_input_grad_is_differentiated_by_a_conv(
func.func @conv_input_grad_is_differentiated_by_a_conv(%g: tensor<2x4x8xf32>, %k: tensor<4x3x3xf32>, %w: tensor<2x3x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[DG:.*]] = graph.conv %[[DY]], %arg1
  // CHECK-DAG: %[[DK:.*]] = graph.conv_weight_grad %arg0, %[[DY]] {
  // CHECK: return %[[DG]], %[[DK]], %
  %y = graph.conv_input_grad %g, %k {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<4x3x3xf32> -> tensor<2x3x8xf32>
  %weighted = graph.mul %y, %w : tensor<2x3x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x3x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// With output padding a window more fits into the result than the operand has.
// CHECK-LABEL: @conv_input_grad_with_output_padding_has_the_gradient_of_fewer_windows(
func.func @conv_input_grad_with_output_padding_has_the_gradient_of_fewer_windows(%g: tensor<2x4x8xf32>, %k: tensor<4x3x3xf32>, %w: tensor<2x3x10xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[ALL:.*]] = graph.conv %[[DY]], %arg1 {{.*}} -> tensor<2x4x10xf32>
  // CHECK-DAG: %[[DG:.*]] = graph.slice %[[ALL]] dim 2 from 0 step 1 : tensor<2x4x10xf32> -> tensor<2x4x8xf32>
  // CHECK-DAG: %[[DK:.*]] = graph.conv_weight_grad %arg0, %[[DY]] {
  // CHECK: return %[[DG]], %[[DK]], %
  %y = graph.conv_input_grad %g, %k {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<4x3x3xf32> -> tensor<2x3x10xf32>
  %weighted = graph.mul %y, %w : tensor<2x3x10xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x3x10xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @conv_weight_grad_of_fewer_windows_has_their_gradient(
func.func @conv_weight_grad_of_fewer_windows_has_their_gradient(%g: tensor<2x4x7xf32>, %x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<f32> {
  // CHECK: graph.slice %{{.*}} dim 2 from 0 step 1 : tensor<2x4x8xf32> -> tensor<2x4x7xf32>
  %y = graph.conv_weight_grad %g, %x {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x7xf32>, tensor<2x3x8xf32> -> tensor<4x3x3xf32>
  %weighted = graph.mul %y, %w : tensor<4x3x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<4x3x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @conv_weight_grad_is_differentiated_by_a_conv(
func.func @conv_weight_grad_is_differentiated_by_a_conv(%g: tensor<2x4x8xf32>, %x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[DG:.*]] = graph.conv %arg1, %[[DY]] {
  // CHECK-DAG: %[[DX:.*]] = graph.conv_input_grad %arg0, %[[DY]] {
  // CHECK: return %[[DG]], %[[DX]], %
  %y = graph.conv_weight_grad %g, %x {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<2x3x8xf32> -> tensor<4x3x3xf32>
  %weighted = graph.mul %y, %w : tensor<4x3x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<4x3x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @pool_max_reads_its_operand_again(
func.func @pool_max_reads_its_operand_again(%x: tensor<2x3x8xf32>, %w: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.pool_grad max %[[DY]], %arg0 {{.*}} -> tensor<2x3x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %weighted = graph.mul %y, %w : tensor<2x3x4xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @pool_average_reads_its_operand_again(
func.func @pool_average_reads_its_operand_again(%x: tensor<2x3x8xf32>, %w: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK: %[[DX:.*]] = graph.pool_grad average %[[DY]], %arg0 {{.*}} -> tensor<2x3x8xf32>
  // CHECK: return %[[DX]], %
  %y = graph.pool average %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %weighted = graph.mul %y, %w : tensor<2x3x4xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @a_batched_matmul_keeps_its_batch_dims_first(
func.func @a_batched_matmul_keeps_its_batch_dims_first(%x: tensor<2x4x8xf32>, %z: tensor<2x8x3xf32>, %w: tensor<2x4x3xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[DX:.*]] = graph.dot_general %[[DY]], %arg1 batch [0] x [0] contract [2] x [2]
  // CHECK-DAG: %[[DZ:.*]] = graph.dot_general %arg0, %[[DY]] batch [0] x [0] contract [1] x [1]
  // CHECK: return %[[DX]], %[[DZ]], %
  %y = graph.dot_general %x, %z batch [0] x [0] contract [2] x [1] : tensor<2x4x8xf32>, tensor<2x8x3xf32> -> tensor<2x4x3xf32>
  %weighted = graph.mul %y, %w : tensor<2x4x3xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @log_softmax_is_differentiated_from_its_result(
func.func @log_softmax_is_differentiated_from_its_result(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg1
  // CHECK-DAG: %[[E:.*]] = graph.exp %{{.*}}
  // CHECK-DAG: %[[SUM:.*]] = graph.reduce sum %[[DY]] over [1]
  // CHECK-DAG: %[[ALL:.*]] = graph.broadcast %[[SUM]] to [0]
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[E]], %[[ALL]] :
  // CHECK: %[[DX:.*]] = graph.sub %[[DY]], %[[PART]] :
  // CHECK: return %[[DX]], %
  %y = graph.log_softmax %x dim 1 : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @rms_norm_gives_its_scale_the_sum_over_rows(
func.func @rms_norm_gives_its_scale_the_sum_over_rows(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg2
  // CHECK-DAG: %[[INVERSE:.*]] = graph.rsqrt %{{.*}}
  // CHECK-DAG: %[[FACTOR:.*]] = graph.broadcast %[[INVERSE]] to [0]
  // CHECK-DAG: %[[UNIT:.*]] = graph.mul %arg0, %[[FACTOR]] :
  // CHECK-DAG: %[[SCALE:.*]] = graph.broadcast %arg1 to [1]
  // CHECK-DAG: %[[G:.*]] = graph.mul %[[DY]], %[[SCALE]] :
  // CHECK-DAG: %[[GU:.*]] = graph.mul %[[G]], %[[UNIT]] :
  // CHECK-DAG: %[[SUM:.*]] = graph.reduce sum %[[GU]] over [1]
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[DY]], %[[UNIT]] :
  // CHECK-DAG: %[[DS:.*]] = graph.reduce sum %[[PART]] over [0]
  // CHECK-DAG: %[[DX:.*]] = graph.mul %{{.*}}, %[[FACTOR]] :
  // CHECK: return %[[DX]], %[[DS]], %
  %y = graph.rms_norm %x, %s {epsilon = 0.5 : f64} : tensor<4x8xf32>, tensor<8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @layer_norm_gives_its_bias_the_sum_over_rows(
func.func @layer_norm_gives_its_bias_the_sum_over_rows(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg3
  // CHECK-DAG: %[[INVERSE:.*]] = graph.rsqrt %{{.*}}
  // CHECK-DAG: %[[FACTOR:.*]] = graph.broadcast %[[INVERSE]] to [0]
  // CHECK-DAG: %[[UNIT:.*]] = graph.mul %{{.*}}, %[[FACTOR]] :
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[DY]], %[[UNIT]] :
  // CHECK-DAG: %[[DS:.*]] = graph.reduce sum %[[PART]] over [0]
  // CHECK-DAG: %[[DB:.*]] = graph.reduce sum %[[DY]] over [0]
  // CHECK: return %{{.*}}, %[[DS]], %[[DB]], %
  %y = graph.layer_norm %x, %s, %b {epsilon = 0.5 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @rotary_turns_back(
func.func @rotary_turns_back(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg3
  // CHECK-DAG: %[[KEPT:.*]] = graph.mul %[[DY]], %arg1
  // CHECK-DAG: %[[SINE:.*]] = graph.mul %[[DY]], %arg2
  // CHECK-DAG: %[[BACK:.*]] = graph.concat %{{.*}}, %{{.*}} dim 1
  // CHECK-DAG: %[[DX:.*]] = graph.sub %[[KEPT]], %{{.*}}
  // CHECK-DAG: %[[DC:.*]] = graph.mul %[[DY]], %arg0
  // CHECK: return %[[DX]], %[[DC]], %
  %y = graph.rotary %x, %c, %s : tensor<4x8xf32>
  %weighted = graph.mul %y, %w : tensor<4x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @batch_norm_gives_nothing_to_its_running_statistics(
func.func @batch_norm_gives_nothing_to_its_running_statistics(%x: tensor<2x3x8xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %w: tensor<2x3x8xf32>) -> tensor<f32> {
  // CHECK: graph.reduce sum %{{.*}} -> tensor<f32>
  // CHECK: %[[DY:.*]] = graph.mul %{{.*}}, %arg5
  // CHECK-DAG: %[[DB:.*]] = graph.reduce sum %[[DY]] over [0, 2]
  // CHECK-DAG: %[[UNIT:.*]] = graph.mul %[[DY]], %{{.*}}
  // CHECK-DAG: %[[DS:.*]] = graph.reduce sum %[[UNIT]] over [0, 2]
  // CHECK: return %{{.*}}, %[[DS]], %[[DB]], %{{[0-9]+}} : tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x8xf32>
  %y, %nm, %nv = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 0.5 : f64, momentum = 0.25 : f64} : tensor<2x3x8xf32>, tensor<3xf32>
  %weighted = graph.mul %y, %w : tensor<2x3x8xf32>
  %loss = graph.reduce sum %weighted over [0, 1, 2] : tensor<2x3x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @cross_entropy_subtracts_one_at_the_label(
func.func @cross_entropy_subtracts_one_at_the_label(%x: tensor<4x10xf32>, %l: tensor<4xi64>) -> tensor<f32> {
  // CHECK-DAG: %[[COUNTS:.*]] = graph.compare ne %arg1, %{{.*}}
  // CHECK-DAG: %[[WEIGHT:.*]] = graph.cast %[[COUNTS]] :
  // CHECK-DAG: %[[COUNT:.*]] = graph.reduce sum %[[WEIGHT]] over [0]
  // CHECK-DAG: %[[CLASSES:.*]] = graph.iota dim 1 : tensor<4x10xi64>
  // CHECK-DAG: %[[LABELS:.*]] = graph.broadcast %arg1 to [0]
  // CHECK-DAG: %[[IS:.*]] = graph.compare eq %[[CLASSES]], %[[LABELS]] :
  // CHECK-DAG: %[[S:.*]] = graph.softmax %arg0 dim 1
  // CHECK-DAG: %[[ONES:.*]] = graph.cast %[[IS]] :
  // CHECK-DAG: %[[REST:.*]] = graph.sub %[[S]], %[[ONES]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[REST]], %{{.*}}
  // CHECK: return %[[DX]] :
  %y = graph.softmax_cross_entropy %x, %l : tensor<4x10xf32>, tensor<4xi64> -> tensor<f32>
  return %y : tensor<f32>
}
