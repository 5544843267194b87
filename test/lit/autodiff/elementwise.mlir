// Gradients of the elementwise ops. Operands are numbers, and the result is the loss itself: its
// gradient is the constant 1, DY.
// RUN: cleave-opt --cleave-autodiff-gradients %s | FileCheck %s

// CHECK-LABEL: @neg_turns_the_sign(
func.func @neg_turns_the_sign(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.neg %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.neg %[[DY]] :
  // CHECK: return %[[DX]] :
  %y = graph.neg %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @abs_has_the_sign_of_its_operand_and_no_slope_at_zero(
func.func @abs_has_the_sign_of_its_operand_and_no_slope_at_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.abs %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[POSITIVE:.*]] = graph.compare gt %arg0, %{{.*}}
  // CHECK-DAG: %[[NEGATIVE:.*]] = graph.compare lt %arg0, %{{.*}}
  // CHECK-DAG: %[[MINUS:.*]] = graph.neg %[[DY]] :
  // CHECK-DAG: %[[OTHER:.*]] = graph.select %[[NEGATIVE]], %[[MINUS]], %{{.*}}
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[POSITIVE]], %[[DY]], %[[OTHER]] :
  // CHECK: return %[[DX]] :
  %y = graph.abs %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @exp_is_its_own_slope(
func.func @exp_is_its_own_slope(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.exp %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[Y]] :
  // CHECK: return %[[DX]] :
  %y = graph.exp %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @log_divides_by_its_operand(
func.func @log_divides_by_its_operand(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.log %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.div %[[DY]], %arg0
  // CHECK: return %[[DX]] :
  %y = graph.log %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @expm1_has_a_slope_one_above_its_result(
func.func @expm1_has_a_slope_one_above_its_result(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.expm1 %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SLOPE:.*]] = graph.add %[[Y]], %[[ONE]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK: return %[[DX]] :
  %y = graph.expm1 %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @log1p_divides_by_one_more_than_its_operand(
func.func @log1p_divides_by_one_more_than_its_operand(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.log1p %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SUM:.*]] = graph.add %arg0, %[[ONE]] :
  // CHECK: %[[DX:.*]] = graph.div %[[DY]], %[[SUM]] :
  // CHECK: return %[[DX]] :
  %y = graph.log1p %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sqrt_divides_half_by_its_result(
func.func @sqrt_divides_half_by_its_result(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.sqrt %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[HALF:.*]] = graph.constant dense<5.000000e-01>
  // CHECK: %[[PART:.*]] = graph.mul %[[DY]], %[[HALF]] :
  // CHECK: %[[DX:.*]] = graph.div %[[PART]], %[[Y]] :
  // CHECK: return %[[DX]] :
  %y = graph.sqrt %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @rsqrt_multiplies_by_the_cube_of_its_result(
func.func @rsqrt_multiplies_by_the_cube_of_its_result(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.rsqrt %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[HALF:.*]] = graph.constant dense<-5.000000e-01>
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[DY]], %[[HALF]] :
  // CHECK-DAG: %[[SQUARE:.*]] = graph.mul %[[Y]], %[[Y]] :
  // CHECK-DAG: %[[CUBE:.*]] = graph.mul %[[SQUARE]], %[[Y]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[PART]], %[[CUBE]] :
  // CHECK: return %[[DX]] :
  %y = graph.rsqrt %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sin_has_the_slope_cos(
func.func @sin_has_the_slope_cos(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.sin %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[C:.*]] = graph.cos %arg0
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[C]] :
  // CHECK: return %[[DX]] :
  %y = graph.sin %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @cos_has_the_slope_minus_sin(
func.func @cos_has_the_slope_minus_sin(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.cos %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[S:.*]] = graph.sin %arg0
  // CHECK: %[[MINUS:.*]] = graph.neg %[[S]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[MINUS]] :
  // CHECK: return %[[DX]] :
  %y = graph.cos %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @tanh_has_the_slope_one_minus_its_square(
func.func @tanh_has_the_slope_one_minus_its_square(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.tanh %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SQUARE:.*]] = graph.mul %[[Y]], %[[Y]] :
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SLOPE:.*]] = graph.sub %[[ONE]], %[[SQUARE]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK: return %[[DX]] :
  %y = graph.tanh %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @atan_divides_by_one_and_the_square(
func.func @atan_divides_by_one_and_the_square(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.atan %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[SUM:.*]] = graph.add %[[SQUARE]], %[[ONE]] :
  // CHECK: %[[DX:.*]] = graph.div %[[DY]], %[[SUM]] :
  // CHECK: return %[[DX]] :
  %y = graph.atan %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @erf_has_the_slope_of_a_bell_curve(
func.func @erf_has_the_slope_of_a_bell_curve(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.erf %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[FACTOR:.*]] = graph.constant dense<1.128379{{.*}}>
  // CHECK-DAG: %[[PART:.*]] = graph.mul %[[DY]], %[[FACTOR]] :
  // CHECK-DAG: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK-DAG: %[[MINUS:.*]] = graph.neg %[[SQUARE]] :
  // CHECK-DAG: %[[BELL:.*]] = graph.exp %[[MINUS]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[PART]], %[[BELL]] :
  // CHECK: return %[[DX]] :
  %y = graph.erf %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @floor_is_flat_and_gives_zero(
func.func @floor_is_flat_and_gives_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: return %[[ZERO]] :
  %y = graph.floor %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @ceil_is_flat_and_gives_zero(
func.func @ceil_is_flat_and_gives_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: return %[[ZERO]] :
  %y = graph.ceil %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @round_is_flat_and_gives_zero(
func.func @round_is_flat_and_gives_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: return %[[ZERO]] :
  %y = graph.round %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @add_gives_the_same_gradient_to_both(
func.func @add_gives_the_same_gradient_to_both(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.add %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: return %[[DY]], %[[DY]] :
  %y = graph.add %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sub_gives_the_negative_to_the_second(
func.func @sub_gives_the_negative_to_the_second(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.sub %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[MINUS:.*]] = graph.neg %[[DY]] :
  // CHECK: return %[[DY]], %[[MINUS]] :
  %y = graph.sub %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @mul_multiplies_by_the_other_operand(
func.func @mul_multiplies_by_the_other_operand(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.mul %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %arg1
  // CHECK: %[[DZ:.*]] = graph.mul %[[DY]], %arg0
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.mul %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @div_builds_the_second_gradient_from_the_first(
func.func @div_builds_the_second_gradient_from_the_first(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.div %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.div %[[DY]], %arg1
  // CHECK: %[[PART:.*]] = graph.mul %[[DX]], %[[Y]] :
  // CHECK: %[[DZ:.*]] = graph.neg %[[PART]] :
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.div %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @max_gives_the_gradient_to_the_larger_operand_and_halves_of_it_to_equal_ones(
func.func @max_gives_the_gradient_to_the_larger_operand_and_halves_of_it_to_equal_ones(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.max %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[XWINS:.*]] = graph.compare gt %arg0, %arg1
  // CHECK-DAG: %[[ZWINS:.*]] = graph.compare gt %arg1, %arg0
  // CHECK-DAG: %[[HALFX:.*]] = graph.mul %[[DY]], %{{.*}}
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[XWINS]], %[[DY]], %{{[0-9]+}} :
  // CHECK-DAG: %[[DZ:.*]] = graph.select %[[ZWINS]], %[[DY]], %{{[0-9]+}} :
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.max %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @min_gives_the_gradient_to_the_smaller_operand_and_halves_of_it_to_equal_ones(
func.func @min_gives_the_gradient_to_the_smaller_operand_and_halves_of_it_to_equal_ones(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.min %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[XWINS:.*]] = graph.compare lt %arg0, %arg1
  // CHECK-DAG: %[[ZWINS:.*]] = graph.compare lt %arg1, %arg0
  // CHECK-DAG: %[[HALFX:.*]] = graph.mul %[[DY]], %{{.*}}
  // CHECK-DAG: %[[DX:.*]] = graph.select %[[XWINS]], %[[DY]], %{{[0-9]+}} :
  // CHECK-DAG: %[[DZ:.*]] = graph.select %[[ZWINS]], %[[DY]], %{{[0-9]+}} :
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.min %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @rem_changes_with_its_divisor_by_the_whole_quotient(
func.func @rem_changes_with_its_divisor_by_the_whole_quotient(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.rem %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[WHOLE:.*]] = graph.sub %arg0, %[[Y]] :
  // CHECK: %[[COUNT:.*]] = graph.div %[[WHOLE]], %arg1
  // CHECK: %[[PART:.*]] = graph.mul %[[DY]], %[[COUNT]] :
  // CHECK: %[[DZ:.*]] = graph.neg %[[PART]] :
  // CHECK: return %[[DY]], %[[DZ]] :
  %y = graph.rem %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @pow_guards_both_slopes_where_they_are_no_numbers(
func.func @pow_guards_both_slopes_where_they_are_no_numbers(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.pow %arg0, %arg1
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[ISZERO:.*]] = graph.compare eq %arg1, %{{.*}}
  // CHECK-DAG: %[[LESS:.*]] = graph.sub %arg1, %{{.*}}
  // CHECK-DAG: %[[POWER:.*]] = graph.pow %arg0, %[[LESS]] :
  // CHECK-DAG: %[[STEEP:.*]] = graph.mul %arg1, %[[POWER]] :
  // CHECK-DAG: %[[SLOPE:.*]] = graph.select %[[ISZERO]], %{{.*}}, %[[STEEP]] :
  // CHECK-DAG: %[[XZERO:.*]] = graph.compare eq %arg0, %{{.*}}
  // CHECK-DAG: %[[LOG:.*]] = graph.log %arg0
  // CHECK-DAG: %[[RISE:.*]] = graph.mul %[[Y]], %[[LOG]] :
  // CHECK-DAG: %[[GROWTH:.*]] = graph.select %[[XZERO]], %{{.*}}, %[[RISE]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK-DAG: %[[DZ:.*]] = graph.mul %[[DY]], %[[GROWTH]] :
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.pow %x, %z : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @a_square_by_pow_has_a_slope_without_pow(
func.func @a_square_by_pow_has_a_slope_without_pow(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.pow %arg0, %{{.*}}
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-NOT: graph.pow
  // CHECK: %[[TWO:.*]] = graph.constant dense<2.000000e+00>
  // CHECK: %[[TWICE:.*]] = graph.mul %[[DY]], %[[TWO]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[TWICE]], %arg0
  // CHECK: return %[[DX]] :
  %two = graph.constant dense<2.0> : tensor<f32>
  %y = graph.pow %x, %two : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @cast_goes_back_to_the_element_type_of_its_operand(
func.func @cast_goes_back_to_the_element_type_of_its_operand(%x: tensor<f16>) -> tensor<f32> {
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.cast %[[DY]] : tensor<f32> -> tensor<f16>
  // CHECK: return %[[DX]] : tensor<f16>
  %y = graph.cast %x : tensor<f16> -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @cast_from_integers_ends_the_gradient(
func.func @cast_from_integers_ends_the_gradient(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[N:.*]] = graph.cast %{{.*}} : tensor<i1> -> tensor<f32>
  // CHECK: %[[DX:.*]] = graph.mul %{{.*}}, %[[N]] :
  // CHECK: return %[[DX]] :
  %zero = graph.constant dense<0.0> : tensor<f32>
  %c = graph.compare gt %x, %zero : tensor<f32>
  %n = graph.cast %c : tensor<i1> -> tensor<f32>
  %y = graph.mul %n, %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @select_gives_each_operand_the_gradient_where_it_is_chosen(
func.func @select_gives_each_operand_the_gradient_where_it_is_chosen(%c: tensor<i1>, %x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00>
  // CHECK-DAG: %[[DX:.*]] = graph.select %arg0, %[[DY]], %{{.*}}
  // CHECK-DAG: %[[DZ:.*]] = graph.select %arg0, %{{.*}}, %[[DY]] :
  // CHECK: return %[[DX]], %[[DZ]] :
  %y = graph.select %c, %x, %z : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @dropout_drops_its_gradient_by_the_same_seed(
func.func @dropout_drops_its_gradient_by_the_same_seed(%x: tensor<f32>, %s: tensor<i64>) -> tensor<f32> {
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[DX:.*]] = graph.dropout %[[DY]] seed %arg1 {rate = 2.500000e-01 : f64}
  // CHECK: return %[[DX]] :
  %y = graph.dropout %x seed %s {rate = 0.25 : f64} : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @dropout_without_a_seed_passes_its_gradient_on(
func.func @dropout_without_a_seed_passes_its_gradient_on(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.dropout %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: return %[[DY]] :
  %y = graph.dropout %x {rate = 0.25 : f64} : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @relu_passes_its_gradient_where_its_result_is_positive(
func.func @relu_passes_its_gradient_where_its_result_is_positive(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.relu %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00>
  // CHECK: %[[POSITIVE:.*]] = graph.compare gt %[[Y]], %[[ZERO]] :
  // CHECK: %[[DX:.*]] = graph.select %[[POSITIVE]], %[[DY]], %{{.*}}
  // CHECK: return %[[DX]] :
  %y = graph.relu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sigmoid_is_differentiated_from_its_result(
func.func @sigmoid_is_differentiated_from_its_result(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.sigmoid %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[REST:.*]] = graph.sub %[[ONE]], %[[Y]] :
  // CHECK: %[[SLOPE:.*]] = graph.mul %[[Y]], %[[REST]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK-NOT: graph.sigmoid
  // CHECK: return %[[DX]] :
  %y = graph.sigmoid %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @silu_adds_the_slope_of_its_sigmoid(
func.func @silu_adds_the_slope_of_its_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.silu %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[S:.*]] = graph.sigmoid %arg0
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[REST:.*]] = graph.sub %[[ONE]], %[[S]] :
  // CHECK: %[[PART:.*]] = graph.mul %[[Y]], %[[REST]] :
  // CHECK: %[[SLOPE:.*]] = graph.add %[[S]], %[[PART]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK: return %[[DX]] :
  %y = graph.silu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @quick_gelu_scales_the_slope_of_its_sigmoid(
func.func @quick_gelu_scales_the_slope_of_its_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.quick_gelu %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK: %[[STEEP:.*]] = graph.constant dense<1.702000e+00>
  // CHECK: %[[STEEPX:.*]] = graph.mul %arg0, %[[STEEP]] :
  // CHECK: %[[S:.*]] = graph.sigmoid %[[STEEPX]] :
  // CHECK: %[[REST:.*]] = graph.sub %{{.*}}, %[[S]] :
  // CHECK: %[[PART:.*]] = graph.mul %[[Y]], %[[REST]] :
  // CHECK: %[[SCALED:.*]] = graph.mul %[[PART]], %{{.*}}
  // CHECK: %[[SLOPE:.*]] = graph.add %[[S]], %[[SCALED]] :
  // CHECK: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK: return %[[DX]] :
  %y = graph.quick_gelu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @gelu_weighs_by_the_integral_and_adds_the_bell_curve(
func.func @gelu_weighs_by_the_integral_and_adds_the_bell_curve(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.gelu %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[ROOT:.*]] = graph.constant dense<0.70710{{.*}}>
  // CHECK-DAG: %[[XR:.*]] = graph.mul %arg0, %[[ROOT]] :
  // CHECK-DAG: %[[E:.*]] = graph.erf %[[XR]] :
  // CHECK-DAG: %[[SUM:.*]] = graph.add %[[E]], %{{.*}}
  // CHECK-DAG: %[[WEIGHT:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK-DAG: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK-DAG: %[[HALF:.*]] = graph.mul %[[SQUARE]], %{{.*}}
  // CHECK-DAG: %[[BELL:.*]] = graph.exp %[[HALF]] :
  // CHECK-DAG: %[[XBELL:.*]] = graph.mul %arg0, %[[BELL]] :
  // CHECK-DAG: %[[DENSITY:.*]] = graph.mul %[[XBELL]], %{{.*}}
  // CHECK-DAG: %[[SLOPE:.*]] = graph.add %[[WEIGHT]], %[[DENSITY]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK: return %[[DX]] :
  %y = graph.gelu %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @gelu_by_tanh_is_differentiated_by_tanh(
func.func @gelu_by_tanh_is_differentiated_by_tanh(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]] = graph.gelu %arg0
  // CHECK: %[[DY:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-DAG: %[[SQUARE:.*]] = graph.mul %arg0, %arg0
  // CHECK-DAG: %[[CUBE:.*]] = graph.mul %arg0, %[[SQUARE]] :
  // CHECK-DAG: %[[BELL:.*]] = graph.tanh %{{.*}}
  // CHECK-DAG: %[[BELLS:.*]] = graph.mul %[[BELL]], %[[BELL]] :
  // CHECK-DAG: %[[REST:.*]] = graph.sub %{{.*}}, %[[BELLS]] :
  // CHECK-DAG: %[[CUBIC:.*]] = graph.mul %[[SQUARE]], %{{.*}}
  // CHECK-DAG: %[[CURVE:.*]] = graph.add %[[CUBIC]], %{{.*}}
  // CHECK-DAG: %[[BELLSLOPE:.*]] = graph.mul %[[REST]], %[[CURVE]] :
  // CHECK-DAG: %[[SUM:.*]] = graph.add %[[BELL]], %{{.*}}
  // CHECK-DAG: %[[WEIGHT:.*]] = graph.mul %[[SUM]], %{{.*}}
  // CHECK-DAG: %[[XSLOPE:.*]] = graph.mul %arg0, %[[BELLSLOPE]] :
  // CHECK-DAG: %[[HALF:.*]] = graph.mul %[[XSLOPE]], %{{.*}}
  // CHECK-DAG: %[[SLOPE:.*]] = graph.add %[[WEIGHT]], %[[HALF]] :
  // CHECK-DAG: %[[DX:.*]] = graph.mul %[[DY]], %[[SLOPE]] :
  // CHECK-NOT: graph.erf
  // CHECK: return %[[DX]] :
  %y = graph.gelu %x {tanh} : tensor<f32>
  return %y : tensor<f32>
}
