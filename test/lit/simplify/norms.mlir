// Norms: which statistics make one, and which scale and bias belong to it.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @a_norm_without_scale_and_bias_has_those_of_no_effect
func.func @a_norm_without_scale_and_bias_has_those_of_no_effect(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-DAG: %[[Z:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[O:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[ZS:.*]] = graph.broadcast %[[Z]] to [] : tensor<f32> -> tensor<8xf32>
  // CHECK-DAG: %[[OS:.*]] = graph.broadcast %[[O]] to [] : tensor<f32> -> tensor<8xf32>
  // CHECK: %[[Y:.*]] = graph.layer_norm %arg0, %[[OS]], %[[ZS]]
  // CHECK-NEXT: return %[[Y]]
  %eight = graph.constant dense<8.0> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<2xf32>
  %sum = graph.reduce sum %x over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.div %sum, %eight : tensor<2xf32>
  %means = graph.broadcast %mean to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %centred = graph.sub %x, %means : tensor<2x8xf32>
  %squares = graph.mul %centred, %centred : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %variance = graph.div %sums, %eight : tensor<2xf32>
  %shifted = graph.add %epsilon, %variance : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %rows, %centred : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @one_over_the_root_may_be_a_factor
func.func @one_over_the_root_may_be_a_factor(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.rms_norm %arg0, %arg1 {epsilon = 9.765625E-4 : f64}
  // CHECK-NEXT: return %[[Y]]
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<9.765625e-4> : tensor<2xf32>
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %root = graph.sqrt %shifted : tensor<2xf32>
  %inverse = graph.div %one, %root : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %0 = graph.mul %normal, %scale : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: @a_norm_may_be_over_several_last_dims
func.func @a_norm_may_be_over_several_last_dims(%x: tensor<2x4x2xf32>, %w: tensor<4x2xf32>) -> tensor<2x4x2xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.rms_norm %arg0, %arg1
  // CHECK-NEXT: return %[[Y]]
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x4x2xf32>
  %sums = graph.reduce sum %squares over [1, 2] : tensor<2x4x2xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x4x2xf32>
  %normal = graph.mul %x, %rows : tensor<2x4x2xf32>
  %scale = graph.broadcast %w to [1, 2] : tensor<4x2xf32> -> tensor<2x4x2xf32>
  %0 = graph.mul %normal, %scale : tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}

// CHECK-LABEL: @a_norm_over_the_first_dim_is_none
func.func @a_norm_over_the_first_dim_is_none(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<8x2xf32>
  %sums = graph.reduce sum %squares over [0] : tensor<8x2xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [1] : tensor<2xf32> -> tensor<8x2xf32>
  %normal = graph.mul %x, %rows : tensor<8x2xf32>
  return %normal : tensor<8x2xf32>
}

// Rows are as many as columns: a row is multiplied by the statistic of a column's number.
// CHECK-LABEL: @statistics_along_the_other_dim_are_no_norm
func.func @statistics_along_the_other_dim_are_no_norm(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<8xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<8xf32>
  %squares = graph.mul %x, %x : tensor<8x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<8x8xf32> -> tensor<8xf32>
  %mean = graph.mul %sums, %eighth : tensor<8xf32>
  %shifted = graph.add %mean, %epsilon : tensor<8xf32>
  %inverse = graph.rsqrt %shifted : tensor<8xf32>
  %columns = graph.broadcast %inverse to [1] : tensor<8xf32> -> tensor<8x8xf32>
  %normal = graph.mul %x, %columns : tensor<8x8xf32>
  return %normal : tensor<8x8xf32>
}

// CHECK-LABEL: @the_greatest_square_is_no_mean
func.func @the_greatest_square_is_no_mean(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %most = graph.reduce max %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %most, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @a_mean_of_products_of_two_values_is_no_norm
func.func @a_mean_of_products_of_two_values_is_no_norm(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %products = graph.mul %x, %y : tensor<2x8xf32>
  %sums = graph.reduce sum %products over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @the_norm_of_another_value_is_none
func.func @the_norm_of_another_value_is_none(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %y, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @an_unknown_epsilon_is_no_norm
func.func @an_unknown_epsilon_is_no_norm(%x: tensor<2x8xf32>, %epsilon: tensor<2xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// What is subtracted is no mean, so the difference is normalised by its squares alone.
// CHECK-LABEL: @a_value_less_half_its_mean_has_an_rms_norm
func.func @a_value_less_half_its_mean_has_an_rms_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[D:.*]] = graph.sub %arg0
  // CHECK-NOT: graph.layer_norm
  // CHECK: %[[Y:.*]] = graph.rms_norm %[[D]]
  // CHECK-NEXT: return %[[Y]]
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %sixteenth = graph.constant dense<0.0625> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<2xf32>
  %sum = graph.reduce sum %x over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %part = graph.mul %sum, %sixteenth : tensor<2xf32>
  %parts = graph.broadcast %part to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %less = graph.sub %x, %parts : tensor<2x8xf32>
  %squares = graph.mul %less, %less : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %deviation = graph.sqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %deviation to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.div %less, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @a_scale_of_a_norm_without_effect_is_taken_in
func.func @a_scale_of_a_norm_without_effect_is_taken_in(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %arg0, %arg1, %arg2
  // CHECK-NEXT: return %[[Y]]
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %zero = graph.constant dense<0.0> : tensor<8xf32>
  %0 = graph.layer_norm %x, %one, %zero {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %1 = graph.mul %0, %scale : tensor<2x8xf32>
  %bias = graph.broadcast %b to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %2 = graph.add %bias, %1 : tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// CHECK-LABEL: @a_second_scale_stays_outside
func.func @a_second_scale_stays_outside(%x: tensor<2x8xf32>, %v: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-DAG: %[[N:.*]] = graph.rms_norm %arg0, %arg1
  // CHECK-DAG: %[[S:.*]] = graph.broadcast %arg2
  // CHECK: graph.mul %[[N]], %[[S]]
  %0 = graph.rms_norm %x, %v {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %1 = graph.mul %0, %scale : tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// A norm adds its bias last.
// CHECK-LABEL: @a_scale_behind_a_bias_stays_outside
func.func @a_scale_behind_a_bias_stays_outside(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[N:.*]] = graph.layer_norm %arg0, %{{.*}}, %arg2
  // CHECK: graph.mul %[[N]]
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %zero = graph.constant dense<0.0> : tensor<8xf32>
  %0 = graph.layer_norm %x, %one, %zero {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  %bias = graph.broadcast %b to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %1 = graph.add %0, %bias : tensor<2x8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %2 = graph.mul %1, %scale : tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// CHECK-LABEL: @a_scale_of_rows_stays_outside
func.func @a_scale_of_rows_stays_outside(%x: tensor<8x8xf32>, %w: tensor<8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[N:.*]] = graph.rms_norm %arg0
  // CHECK: graph.mul %[[N]]
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %0 = graph.rms_norm %x, %one {epsilon = 1.0e-5 : f64} : tensor<8x8xf32>, tensor<8xf32>
  %scale = graph.broadcast %w to [0] : tensor<8xf32> -> tensor<8x8xf32>
  %1 = graph.mul %0, %scale : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: @a_norm_with_another_use_keeps_its_scale
func.func @a_norm_with_another_use_keeps_its_scale(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // CHECK: %[[N:.*]] = graph.rms_norm %arg0
  // CHECK: %[[Y:.*]] = graph.mul %[[N]]
  // CHECK: return %[[N]], %[[Y]]
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %0 = graph.rms_norm %x, %one {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %1 = graph.mul %0, %scale : tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: @a_sum_with_a_whole_tensor_is_no_bias
func.func @a_sum_with_a_whole_tensor_is_no_bias(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[N:.*]] = graph.layer_norm %arg0, %arg1
  // CHECK-NEXT: graph.add %[[N]], %arg0
  %zero = graph.constant dense<0.0> : tensor<8xf32>
  %0 = graph.layer_norm %x, %w, %zero {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  %1 = graph.add %0, %x : tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
