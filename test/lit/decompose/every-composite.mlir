// Every composite op, written out in primitive ops. Functions of one element have numbers as
// operands.
// RUN: cleave-opt --cleave-decompose-composites %s | FileCheck %s --implicit-check-not=graph.relu --implicit-check-not=graph.gelu --implicit-check-not=graph.quick_gelu --implicit-check-not=graph.log_softmax --implicit-check-not=graph.layer_norm --implicit-check-not=graph.rms_norm --implicit-check-not=graph.batch_norm --implicit-check-not=graph.attention --implicit-check-not=graph.grouped --implicit-check-not=graph.rotary --implicit-check-not=graph.dropout --implicit-check-not=graph.softmax --implicit-check-not=graph.stop_gradient

// CHECK-LABEL: @relu_is_the_maximum_with_zero(
func.func @relu_is_the_maximum_with_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00>
  // CHECK: %[[Y:.*]] = graph.max %arg0, %[[ZERO]] :
  // CHECK: return %[[Y]] :
  %y = graph.relu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sigmoid_divides_one_by_one_plus_the_exponential_of_the_negative(
func.func @sigmoid_divides_one_by_one_plus_the_exponential_of_the_negative(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[MINUS:.*]] = graph.neg %arg0
  // CHECK: %[[E:.*]] = graph.exp %[[MINUS]] :
  // CHECK: %[[SUM:.*]] = graph.add %[[ONE]], %[[E]] :
  // CHECK: %[[Y:.*]] = graph.div %[[ONE]], %[[SUM]] :
  // CHECK: return %[[Y]] :
  %y = graph.sigmoid %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @gelu_weighs_by_erf(
func.func @gelu_weighs_by_erf(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ROOT:.*]] = graph.constant dense<0.70710{{.*}}>
  // CHECK: %[[XR:.*]] = graph.mul %arg0, %[[ROOT]] :
  // CHECK: %[[E:.*]] = graph.erf %[[XR]] :
  // CHECK: %[[SUM:.*]] = graph.add %[[E]], %{{.*}}
  // CHECK: %[[WEIGHT:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK: %[[Y:.*]] = graph.mul %arg0, %[[WEIGHT]] :
  // CHECK: return %[[Y]] :
  %y = graph.gelu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @gelu_weighs_by_tanh_of_a_cubic(
func.func @gelu_weighs_by_tanh_of_a_cubic(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK: %[[CUBE:.*]] = graph.mul %arg0, %[[SQUARE]] :
  // CHECK: %[[PART:.*]] = graph.mul %[[CUBE]], %{{.*}}
  // CHECK: %[[SUM:.*]] = graph.add %arg0, %[[PART]] :
  // CHECK: %[[SCALED:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK: %[[T:.*]] = graph.tanh %[[SCALED]] :
  // CHECK: %[[ONE:.*]] = graph.add %[[T]], %{{.*}}
  // CHECK: %[[WEIGHT:.*]] = graph.mul %[[ONE]], %{{.*}}
  // CHECK: %[[Y:.*]] = graph.mul %arg0, %[[WEIGHT]] :
  // CHECK: return %[[Y]] :
  %y = graph.gelu %x {tanh} : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @quick_gelu_weighs_by_a_steep_sigmoid(
func.func @quick_gelu_weighs_by_a_steep_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[STEEP:.*]] = graph.constant dense<1.702000e+00>
  // CHECK: %[[XS:.*]] = graph.mul %arg0, %[[STEEP]] :
  // CHECK: %[[MINUS:.*]] = graph.neg %[[XS]] :
  // CHECK: %[[E:.*]] = graph.exp %[[MINUS]] :
  // CHECK: %[[S:.*]] = graph.div %{{.*}}, %{{.*}}
  // CHECK: %[[Y:.*]] = graph.mul %arg0, %[[S]] :
  // CHECK: return %[[Y]] :
  %y = graph.quick_gelu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @log_softmax_subtracts_the_logarithm_of_the_sum(
func.func @log_softmax_subtracts_the_logarithm_of_the_sum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[MAX:.*]] = graph.reduce max %arg0 over [1]
  // CHECK: %[[TOP:.*]] = graph.broadcast %[[MAX]] to [0]
  // CHECK: %[[SHIFTED:.*]] = graph.sub %arg0, %[[TOP]] :
  // CHECK: %[[E:.*]] = graph.exp %[[SHIFTED]] :
  // CHECK: %[[SUM:.*]] = graph.reduce sum %[[E]] over [1]
  // CHECK: %[[LOG:.*]] = graph.log %[[SUM]] :
  // CHECK: %[[TOTAL:.*]] = graph.broadcast %[[LOG]] to [0]
  // CHECK: %[[Y:.*]] = graph.sub %[[SHIFTED]], %[[TOTAL]] :
  // CHECK: return %[[Y]] :
  %y = graph.log_softmax %x dim 1 : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @layer_norm_centres_by_the_mean_first(
func.func @layer_norm_centres_by_the_mean_first(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[SUM:.*]] = graph.reduce sum %arg0 over [1]
  // CHECK: %[[MEAN:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK: %[[SPREAD:.*]] = graph.broadcast %[[MEAN]] to [0]
  // CHECK: %[[CENTRED:.*]] = graph.sub %arg0, %[[SPREAD]] :
  // CHECK: %[[SQUARE:.*]] = graph.mul %[[CENTRED]], %[[CENTRED]] :
  // CHECK: %[[SUMS:.*]] = graph.reduce sum %[[SQUARE]] over [1]
  // CHECK: %[[VARIANCE:.*]] = graph.mul %[[SUMS]], %{{.*}}
  // CHECK: %[[EPSILON:.*]] = graph.constant dense<5.000000e-01>
  // CHECK: %[[SHIFTED:.*]] = graph.add %[[VARIANCE]], %{{.*}}
  // CHECK: %[[INVERSE:.*]] = graph.rsqrt %[[SHIFTED]] :
  // CHECK: %[[FACTOR:.*]] = graph.broadcast %[[INVERSE]] to [0]
  // CHECK: %[[UNIT:.*]] = graph.mul %[[CENTRED]], %[[FACTOR]] :
  // CHECK: %[[SCALE:.*]] = graph.broadcast %arg1 to [1]
  // CHECK: %[[SCALED:.*]] = graph.mul %[[UNIT]], %[[SCALE]] :
  // CHECK: %[[BIAS:.*]] = graph.broadcast %arg2 to [1]
  // CHECK: %[[Y:.*]] = graph.add %[[SCALED]], %[[BIAS]] :
  // CHECK: return %[[Y]] :
  %y = graph.layer_norm %x, %s, %b {epsilon = 0.5 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @rms_norm_divides_by_the_mean_square_without_centring(
func.func @rms_norm_divides_by_the_mean_square_without_centring(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK: %[[SUMS:.*]] = graph.reduce sum %[[SQUARE]] over [1]
  // CHECK: %[[MEAN:.*]] = graph.mul %[[SUMS]], %{{.*}}
  // CHECK: %[[EPSILON:.*]] = graph.constant dense<5.000000e-01>
  // CHECK: %[[SHIFTED:.*]] = graph.add %[[MEAN]], %{{.*}}
  // CHECK: %[[INVERSE:.*]] = graph.rsqrt %[[SHIFTED]] :
  // CHECK: %[[FACTOR:.*]] = graph.broadcast %[[INVERSE]] to [0]
  // CHECK: %[[UNIT:.*]] = graph.mul %arg0, %[[FACTOR]] :
  // CHECK: %[[SCALE:.*]] = graph.broadcast %arg1 to [1]
  // CHECK: %[[Y:.*]] = graph.mul %[[UNIT]], %[[SCALE]] :
  // CHECK: return %[[Y]] :
  %y = graph.rms_norm %x, %s {epsilon = 0.5 : f64} : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @batch_norm_moves_the_running_statistics_by_the_unbiased_variance(
func.func @batch_norm_moves_the_running_statistics_by_the_unbiased_variance(%x: tensor<2x3x8xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK: %[[SUM:.*]] = graph.reduce sum %arg0 over [0, 2]
  // CHECK: %[[MEAN:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK: %[[CENTRED:.*]] = graph.sub %arg0, %{{.*}}
  // CHECK: %[[SQUARE:.*]] = graph.mul %[[CENTRED]], %[[CENTRED]] :
  // CHECK: %[[SUMS:.*]] = graph.reduce sum %[[SQUARE]] over [0, 2]
  // CHECK: %[[VARIANCE:.*]] = graph.mul %[[SUMS]], %{{.*}}
  // CHECK: %[[SHIFTED:.*]] = graph.add %[[VARIANCE]], %{{.*}}
  // CHECK: %[[INVERSE:.*]] = graph.rsqrt %[[SHIFTED]] :
  // CHECK: %[[FACTOR:.*]] = graph.mul %[[INVERSE]], %arg1
  // 16 of 15 numbers per channel are free.
  // CHECK: graph.constant dense<1.0666{{.*}}>
  // CHECK: %[[UNBIASED:.*]] = graph.mul %[[VARIANCE]], %{{.*}}
  // CHECK-DAG: %[[KEPTMEAN:.*]] = graph.mul %arg3, %{{.*}}
  // CHECK-DAG: %[[NEWMEAN:.*]] = graph.mul %[[MEAN]], %{{.*}}
  // CHECK-DAG: %[[RUNNINGMEAN:.*]] = graph.add %[[KEPTMEAN]], %[[NEWMEAN]] :
  // CHECK-DAG: %[[KEPTVAR:.*]] = graph.mul %arg4, %{{.*}}
  // CHECK-DAG: %[[NEWVAR:.*]] = graph.mul %[[UNBIASED]], %{{.*}}
  // CHECK-DAG: %[[RUNNINGVAR:.*]] = graph.add %[[KEPTVAR]], %[[NEWVAR]] :
  // CHECK: return %{{.*}}, %[[RUNNINGMEAN]], %[[RUNNINGVAR]] :
  %y:3 = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 0.5 : f64, momentum = 0.25 : f64} : tensor<2x3x8xf32>, tensor<3xf32>
  return %y#0, %y#1, %y#2 : tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @dropout_without_a_seed_is_the_identity(
func.func @dropout_without_a_seed_is_the_identity(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: return %arg0
  %y = graph.dropout %x {rate = 0.5 : f64} : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @dropout_with_a_seed_compares_random_numbers(
func.func @dropout_with_a_seed_compares_random_numbers(%x: tensor<4x8xf32>, %s: tensor<i64>) -> tensor<4x8xf32> {
  // CHECK: graph.random
  // CHECK: graph.compare {{.*}}
  // CHECK: graph.select
  // CHECK: return
  %y = graph.dropout %x seed %s {rate = 0.5 : f64} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @stop_gradient_is_the_identity(
func.func @stop_gradient_is_the_identity(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: return %arg0
  %y = graph.stop_gradient %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @rotary_turns_halves(
func.func @rotary_turns_halves(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[FIRST:.*]] = graph.slice %arg0 dim 1 from 0 step 1 : tensor<4x8xf32> -> tensor<4x4xf32>
  // CHECK: %[[SECOND:.*]] = graph.slice %arg0 dim 1 from 4 step 1
  // CHECK: %[[MINUS:.*]] = graph.neg %[[SECOND]] :
  // CHECK: %[[TURNED:.*]] = graph.concat %[[MINUS]], %[[FIRST]] dim 1
  // CHECK-DAG: %[[KEPT:.*]] = graph.mul %arg0, %arg1
  // CHECK-DAG: %[[SINE:.*]] = graph.mul %[[TURNED]], %arg2
  // CHECK: %[[Y:.*]] = graph.add %[[KEPT]], %[[SINE]] :
  // CHECK: return %[[Y]] :
  %y = graph.rotary %x, %c, %s : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @interleaved_rotary_turns_pairs(
func.func @interleaved_rotary_turns_pairs(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[PAIRS:.*]] = graph.reshape %arg0 : tensor<4x8xf32> -> tensor<4x4x2xf32>
  // CHECK: %[[FIRST:.*]] = graph.slice %[[PAIRS]] dim 2 from 0 step 1 : tensor<4x4x2xf32> -> tensor<4x4x1xf32>
  // CHECK: %[[SECOND:.*]] = graph.slice %[[PAIRS]] dim 2 from 1 step 1
  // CHECK: %[[MINUS:.*]] = graph.neg %[[SECOND]] :
  // CHECK: %[[TURN:.*]] = graph.concat %[[MINUS]], %[[FIRST]] dim 2
  // CHECK: %[[TURNED:.*]] = graph.reshape %[[TURN]] : tensor<4x4x2xf32> -> tensor<4x8xf32>
  // CHECK: %[[SINE:.*]] = graph.mul %[[TURNED]], %arg2
  // CHECK: %[[Y:.*]] = graph.add %{{.*}}, %[[SINE]] :
  // CHECK: return %[[Y]] :
  %y = graph.rotary %x, %c, %s {interleaved} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Each row has a copy per group, which is 0 outside of the rows of the group.
// CHECK-LABEL: @a_grouped_product_multiplies_masked_rows_by_all_groups(
func.func @a_grouped_product_multiplies_masked_rows_by_all_groups(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %e: tensor<3xi32>) -> tensor<6x8xf32> {
  // CHECK: graph.gather %arg2
  // CHECK: graph.compare ge
  // CHECK: graph.gather %arg2
  // CHECK: graph.compare lt
  // CHECK: %[[PARTS:.*]] = graph.select {{.*}}tensor<6x3x4xf32>
  // CHECK: graph.dot_general %[[PARTS]], %arg1 batch [] x [] contract [1, 2] x [0, 1]
  %y = graph.grouped_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: @a_grouped_weight_gradient_sums_over_masked_rows(
func.func @a_grouped_weight_gradient_sums_over_masked_rows(%x: tensor<6x4xf32>, %dy: tensor<6x8xf32>, %e: tensor<3xi32>) -> tensor<3x4x8xf32> {
  // CHECK: %[[PARTS:.*]] = graph.select {{.*}}tensor<6x3x4xf32>
  // CHECK: graph.dot_general %[[PARTS]], %arg1 batch [] x [] contract [0] x [0]
  %dw = graph.grouped_weight_grad %x, %dy, %e : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
  return %dw : tensor<3x4x8xf32>
}

// CHECK-LABEL: @attention_multiplies_softmax_of_scaled_scores_by_the_values(
func.func @attention_multiplies_softmax_of_scaled_scores_by_the_values(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %arg0, %arg1 batch [0] x [0] contract [2] x [2]
  // CHECK-NOT: graph.compare
  // CHECK: %[[SCORES:.*]] = graph.mul %[[PRODUCTS]], %{{.*}}
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[SCORES]] over [2]
  // CHECK: %[[WEIGHTS:.*]] = graph.div %{{.*}}, %{{.*}}
  // CHECK: %[[Y:.*]] = graph.dot_general %[[WEIGHTS]], %arg2 batch [0] x [0] contract [2] x [1]
  // CHECK: return %[[Y]] :
  %y, %lse_y = graph.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: @attention_with_scale_one_multiplies_by_nothing(
func.func @attention_with_scale_one_multiplies_by_nothing(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %arg0, %arg1
  // CHECK-NOT: graph.mul
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[PRODUCTS]] over [2]
  // CHECK: return
  %y, %lse_y = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: @causal_attention_selects_keys_up_to_the_query(
func.func @causal_attention_selects_keys_up_to_the_query(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  // CHECK-DAG: %[[QUERY:.*]] = graph.iota dim 0 : tensor<5x5xi64>
  // CHECK-DAG: %[[KEY:.*]] = graph.iota dim 1 : tensor<5x5xi64>
  // CHECK: %[[COUNTS:.*]] = graph.compare le %[[KEY]], %[[QUERY]] :
  // CHECK: %[[ALL:.*]] = graph.broadcast %[[COUNTS]] to [1, 2]
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %arg0, %arg1
  // CHECK: %[[SCORES:.*]] = graph.select %[[ALL]], %[[PRODUCTS]], %{{.*}}
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[SCORES]] over [2]
  // CHECK: return
  %y, %lse_y = graph.attention %q, %k, %v {scale = 1.0 : f64, causal} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: @attention_adds_the_bias_before_the_mask(
func.func @attention_adds_the_bias_before_the_mask(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>, %b: tensor<2x5x5xf32>, %m: tensor<2x5x5xi1>) -> tensor<2x5x8xf32> {
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %arg0, %arg1
  // CHECK: %[[SUM:.*]] = graph.add %[[PRODUCTS]], %arg3
  // CHECK: %[[SCORES:.*]] = graph.select %arg4, %[[SUM]], %{{.*}}
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[SCORES]] over [2]
  // CHECK: return
  %y, %lse_y = graph.attention %q, %k, %v bias %b mask %m {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x5xf32>, tensor<2x5x5xi1>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: @grouped_queries_share_a_head_of_keys(
func.func @grouped_queries_share_a_head_of_keys(%q: tensor<4x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<4x5x8xf32> {
  // CHECK: %[[GROUPS:.*]] = graph.reshape %arg0 : tensor<4x5x8xf32> -> tensor<2x2x5x8xf32>
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %[[GROUPS]], %arg1 batch [0] x [0] contract [3] x [2]
  // CHECK: %[[SCORES:.*]] = graph.reshape %[[PRODUCTS]] : tensor<2x2x5x5xf32> -> tensor<4x5x5xf32>
  // CHECK: return
  %y, %lse_y = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<4x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
  return %y : tensor<4x5x8xf32>
}

// CHECK-LABEL: @attention_of_short_floats_computes_its_scores_and_softmax_in_f32(
func.func @attention_of_short_floats_computes_its_scores_and_softmax_in_f32(%q: tensor<2x5x8xf16>, %k: tensor<2x5x8xf16>, %v: tensor<2x5x8xf16>) -> tensor<2x5x8xf16> {
  // CHECK: %[[PRODUCTS:.*]] = graph.dot_general %arg0, %arg1 {{.*}} : tensor<2x5x8xf16>, tensor<2x5x8xf16> -> tensor<2x5x5xf32>
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[PRODUCTS]] over [2]
  // CHECK: %[[SHORT:.*]] = graph.cast %{{.*}} : tensor<2x5x5xf32> -> tensor<2x5x5xf16>
  // CHECK: %[[Y:.*]] = graph.dot_general %[[SHORT]], %arg2
  // CHECK: return %[[Y]] :
  %y, %lse_y = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> (tensor<2x5x8xf16>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xf16>
}

// CHECK-LABEL: @the_log_sum_exp_of_the_scores_is_a_result(
func.func @the_log_sum_exp_of_the_scores_is_a_result(%q: tensor<2x5x8xf32>) -> tensor<2x5xf32> {
  // CHECK: %[[SCORES:.*]] = graph.dot_general %arg0, %arg0
  // CHECK: graph.dot_general
  // CHECK: %[[MAX:.*]] = graph.reduce max %[[SCORES]] over [2]
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: %[[SUM:.*]] = graph.reduce sum %[[E]] over [2]
  // CHECK: %[[LOG:.*]] = graph.log %[[SUM]]
  // CHECK: %[[LSE:.*]] = graph.add %[[MAX]], %[[LOG]]
  // CHECK: return %[[LSE]] :
  %y, %lse = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return %lse : tensor<2x5xf32>
}

// CHECK-LABEL: @gradients_of_attention_compute_the_weights_by_their_log_sum_exp(
func.func @gradients_of_attention_compute_the_weights_by_their_log_sum_exp(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %y: tensor<2x5x8xf32>, %l: tensor<2x5xf32>, %dy: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) {
  // CHECK: %[[SCORES:.*]] = graph.dot_general %arg0, %arg1
  // CHECK: %[[LSE:.*]] = graph.broadcast %arg4 to [0, 1]
  // CHECK: %[[ABOVE:.*]] = graph.sub %[[SCORES]], %[[LSE]]
  // CHECK: %[[E:.*]] = graph.exp %[[ABOVE]] :
  // CHECK: %[[P:.*]] = graph.select %{{.*}}, %{{.*}}, %[[E]] :
  // CHECK: %[[DV:.*]] = graph.dot_general %[[P]], %arg5 batch [0] x [0] contract [1] x [1]
  // CHECK: %[[DELTA:.*]] = graph.reduce sum %{{.*}} over [2]
  // CHECK: %[[DP:.*]] = graph.dot_general %arg5, %arg2 batch [0] x [0] contract [2] x [2]
  // CHECK: %[[D:.*]] = graph.broadcast %[[DELTA]] to [0, 1]
  // CHECK: %[[DIFFERENCE:.*]] = graph.sub %[[DP]], %[[D]]
  // CHECK: %[[DS:.*]] = graph.mul %[[P]], %[[DIFFERENCE]]
  // CHECK: %[[DQ:.*]] = graph.dot_general %[[DS]], %arg1 batch [0] x [0] contract [2] x [1]
  // CHECK: %[[DK:.*]] = graph.dot_general %[[DS]], %arg0 batch [0] x [0] contract [1] x [1]
  // CHECK: return %[[DQ]], %[[DK]], %[[DV]] :
  %dq, %dk, %dv = graph.attention_grad %q, %k, %v, %y, %l, %dy {scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x5x8xf32>, tensor<2x5xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>)
  return %dq, %dk, %dv : tensor<2x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>
}

// CHECK-LABEL: @cross_entropy_is_the_mean_over_labels_that_count(
func.func @cross_entropy_is_the_mean_over_labels_that_count(%x: tensor<4x10xf32>, %l: tensor<4xi64>) -> tensor<f32> {
  // CHECK: %[[CLASSES:.*]] = graph.iota dim 1 : tensor<4x10xi64>
  // CHECK: %[[LABELS:.*]] = graph.broadcast %arg1 to [0]
  // CHECK: %[[IS:.*]] = graph.compare eq %[[CLASSES]], %[[LABELS]] :
  // CHECK: %[[CHOSEN:.*]] = graph.select %[[IS]], %{{.*}}, %{{.*}}
  // CHECK: %[[SUM:.*]] = graph.reduce sum %[[CHOSEN]] over [1]
  // CHECK: %[[LARGEST:.*]] = graph.reduce max %arg0 over [1]
  // CHECK: %[[EXP:.*]] = graph.exp
  // CHECK: %[[ALL:.*]] = graph.reduce sum %[[EXP]] over [1]
  // CHECK: %[[SHIFTED:.*]] = graph.sub %[[SUM]], %[[LARGEST]] :
  // CHECK: %[[LOG:.*]] = graph.log %[[ALL]] :
  // CHECK: %[[LOSSES:.*]] = graph.sub %[[LOG]], %[[SHIFTED]] :
  // CHECK: %[[COUNTS:.*]] = graph.compare ne %arg1, %{{.*}}
  // CHECK: %[[COUNTED:.*]] = graph.select %[[COUNTS]], %[[LOSSES]], %{{.*}}
  // CHECK: %[[TOTAL:.*]] = graph.reduce sum %[[COUNTED]] over [0]
  // CHECK: %[[WEIGHT:.*]] = graph.cast %[[COUNTS]] :
  // CHECK: %[[COUNT:.*]] = graph.reduce sum %[[WEIGHT]] over [0]
  // CHECK: %[[Y:.*]] = graph.div %[[TOTAL]], %[[COUNT]] :
  // CHECK: return %[[Y]] :
  %y = graph.softmax_cross_entropy %x, %l : tensor<4x10xf32>, tensor<4xi64> -> tensor<f32>
  return %y : tensor<f32>
}
