// Composites that an exporter spelled out.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @gelu_by_erf
func.func @gelu_by_erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 : tensor<4xf32>
  // CHECK-NEXT: return
  %sqrt2 = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.div %x, %sqrt2 : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %half : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @gelu_by_tanh
func.func @gelu_by_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 {tanh} : tensor<4xf32>
  // CHECK-NEXT: return
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %cubic = graph.constant dense<0.044715> : tensor<4xf32>
  %root = graph.constant dense<0.797884583> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.mul %x, %half : tensor<4xf32>
  %1 = graph.mul %x, %x : tensor<4xf32>
  %2 = graph.mul %1, %x : tensor<4xf32>
  %3 = graph.mul %2, %cubic : tensor<4xf32>
  %4 = graph.add %x, %3 : tensor<4xf32>
  %5 = graph.mul %4, %root : tensor<4xf32>
  %6 = graph.tanh %5 : tensor<4xf32>
  %7 = graph.add %6, %one : tensor<4xf32>
  %8 = graph.mul %0, %7 : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// CHECK-LABEL: @another_factor_is_no_gelu
func.func @another_factor_is_no_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.erf
  %sqrt2 = graph.constant dense<1.5> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.div %x, %sqrt2 : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.add %1, %one : tensor<4xf32>
  %3 = graph.mul %x, %2 : tensor<4xf32>
  %4 = graph.mul %3, %half : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @silu
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.silu %arg0
  %0 = graph.sigmoid %x : tensor<4xf32>
  %1 = graph.mul %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @layer_norm_with_scale_and_bias
func.func @layer_norm_with_scale_and_bias(%x: tensor<2x3x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: graph.layer_norm %arg0, %arg1, %arg2
  // CHECK-NEXT: return
  %eighth = graph.constant dense<0.125> : tensor<2x3xf32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %sum = graph.reduce sum %x over [2] : tensor<2x3x8xf32> -> tensor<2x3xf32>
  %mean = graph.mul %sum, %eighth : tensor<2x3xf32>
  %means = graph.broadcast %mean to [0, 1] : tensor<2x3xf32> -> tensor<2x3x8xf32>
  %centred = graph.sub %x, %means : tensor<2x3x8xf32>
  %squares = graph.mul %centred, %centred : tensor<2x3x8xf32>
  %sums = graph.reduce sum %squares over [2] : tensor<2x3x8xf32> -> tensor<2x3xf32>
  %variance = graph.mul %sums, %eighth : tensor<2x3xf32>
  %column = graph.reshape %variance : tensor<2x3xf32> -> tensor<2x3x1xf32>
  %shifted = graph.add %column, %epsilon : tensor<2x3x1xf32>
  %deviation = graph.sqrt %shifted : tensor<2x3x1xf32>
  %row = graph.reshape %deviation : tensor<2x3x1xf32> -> tensor<2x3xf32>
  %rows = graph.broadcast %row to [0, 1] : tensor<2x3xf32> -> tensor<2x3x8xf32>
  %normal = graph.div %centred, %rows : tensor<2x3x8xf32>
  %scale = graph.broadcast %w to [2] : tensor<8xf32> -> tensor<2x3x8xf32>
  %scaled = graph.mul %scale, %normal : tensor<2x3x8xf32>
  %bias = graph.broadcast %b to [2] : tensor<8xf32> -> tensor<2x3x8xf32>
  %0 = graph.add %scaled, %bias : tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: graph.rms_norm %arg0, %arg1
  // CHECK-NEXT: return
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  %scale = graph.broadcast %w to [1] : tensor<8xf32> -> tensor<2x8xf32>
  %0 = graph.mul %normal, %scale : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// The mean of another number of elements is no mean.
// CHECK-LABEL: @a_wrong_count_is_no_norm
func.func @a_wrong_count_is_no_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rms_norm
  %seventh = graph.constant dense<0.142857149> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %seventh : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  return %normal : tensor<2x8xf32>
}

// CHECK-LABEL: @gelus_of_products_and_with_factors_inside
func.func @gelus_of_products_and_with_factors_inside(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[X:.*]] = graph.mul %arg0, %arg1
  // CHECK-DAG: graph.gelu %[[X]] : tensor<4xf32>
  // CHECK-DAG: graph.gelu %arg0 {tanh} : tensor<4xf32>
  %root = graph.constant dense<0.707106781> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %x = graph.mul %a, %b : tensor<4xf32>
  %0 = graph.mul %x, %root : tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32>
  %2 = graph.mul %1, %half : tensor<4xf32>
  %3 = graph.add %2, %half : tensor<4xf32>
  %4 = graph.mul %x, %3 : tensor<4xf32>
  %slope = graph.constant dense<0.797884583> : tensor<4xf32>
  %both = graph.constant dense<0.0356774091> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %5 = graph.mul %a, %slope : tensor<4xf32>
  %6 = graph.mul %a, %a : tensor<4xf32>
  %7 = graph.mul %6, %a : tensor<4xf32>
  %8 = graph.mul %7, %both : tensor<4xf32>
  %9 = graph.add %5, %8 : tensor<4xf32>
  %10 = graph.tanh %9 : tensor<4xf32>
  %11 = graph.add %one, %10 : tensor<4xf32>
  %12 = graph.mul %a, %half : tensor<4xf32>
  %13 = graph.mul %12, %11 : tensor<4xf32>
  return %4, %13 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @quick_gelu_and_silu_by_exp
func.func @quick_gelu_and_silu_by_exp(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: graph.quick_gelu %arg0
  // CHECK-DAG: graph.silu %arg0
  %steep = graph.constant dense<1.702> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.mul %x, %steep : tensor<4xf32>
  %1 = graph.sigmoid %0 : tensor<4xf32>
  %2 = graph.mul %x, %1 : tensor<4xf32>
  %3 = graph.neg %x : tensor<4xf32>
  %4 = graph.exp %3 : tensor<4xf32>
  %5 = graph.add %4, %one : tensor<4xf32>
  %6 = graph.div %x, %5 : tensor<4xf32>
  return %2, %6 : tensor<4xf32>, tensor<4xf32>
}

// Half precision models normalise in single precision and scale in half.
// CHECK-LABEL: @rms_norm_scaled_behind_a_cast
func.func @rms_norm_scaled_behind_a_cast(%h: tensor<2x8xf16>, %w: tensor<8xf16>) -> tensor<2x8xf16> {
  // CHECK-DAG: %[[X:.*]] = graph.cast %arg0
  // CHECK-DAG: %[[W:.*]] = graph.cast %arg1
  // CHECK: %[[N:.*]] = graph.rms_norm %[[X]], %[[W]]
  // CHECK-NEXT: %[[Y:.*]] = graph.cast %[[N]]
  // CHECK-NEXT: return %[[Y]]
  %eighth = graph.constant dense<0.125> : tensor<2xf32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<2xf32>
  %x = graph.cast %h : tensor<2x8xf16> -> tensor<2x8xf32>
  %squares = graph.mul %x, %x : tensor<2x8xf32>
  %sums = graph.reduce sum %squares over [1] : tensor<2x8xf32> -> tensor<2xf32>
  %mean = graph.mul %sums, %eighth : tensor<2xf32>
  %shifted = graph.add %mean, %epsilon : tensor<2xf32>
  %inverse = graph.rsqrt %shifted : tensor<2xf32>
  %rows = graph.broadcast %inverse to [0] : tensor<2xf32> -> tensor<2x8xf32>
  %normal = graph.mul %x, %rows : tensor<2x8xf32>
  %narrow = graph.cast %normal : tensor<2x8xf32> -> tensor<2x8xf16>
  %scale = graph.broadcast %w to [1] : tensor<8xf16> -> tensor<2x8xf16>
  %0 = graph.mul %scale, %narrow : tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
