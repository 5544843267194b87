// Every elementwise op prints what it parses, on each kind of element that it has.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK-LABEL: @functions_of_one_float
func.func @functions_of_one_float(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.exp %arg0 : tensor<4xf32>
  %0 = graph.exp %x : tensor<4xf32>
  // CHECK-NEXT: graph.log %0 : tensor<4xf32>
  %1 = graph.log %0 : tensor<4xf32>
  // CHECK-NEXT: graph.expm1 %1 : tensor<4xf32>
  %2 = graph.expm1 %1 : tensor<4xf32>
  // CHECK-NEXT: graph.log1p %2 : tensor<4xf32>
  %3 = graph.log1p %2 : tensor<4xf32>
  // CHECK-NEXT: graph.sqrt %3 : tensor<4xf32>
  %4 = graph.sqrt %3 : tensor<4xf32>
  // CHECK-NEXT: graph.rsqrt %4 : tensor<4xf32>
  %5 = graph.rsqrt %4 : tensor<4xf32>
  // CHECK-NEXT: graph.sin %5 : tensor<4xf32>
  %6 = graph.sin %5 : tensor<4xf32>
  // CHECK-NEXT: graph.cos %6 : tensor<4xf32>
  %7 = graph.cos %6 : tensor<4xf32>
  // CHECK-NEXT: graph.tanh %7 : tensor<4xf32>
  %8 = graph.tanh %7 : tensor<4xf32>
  // CHECK-NEXT: graph.atan %8 : tensor<4xf32>
  %9 = graph.atan %8 : tensor<4xf32>
  // CHECK-NEXT: graph.erf %9 : tensor<4xf32>
  %10 = graph.erf %9 : tensor<4xf32>
  // CHECK-NEXT: graph.floor %10 : tensor<4xf32>
  %11 = graph.floor %10 : tensor<4xf32>
  // CHECK-NEXT: graph.ceil %11 : tensor<4xf32>
  %12 = graph.ceil %11 : tensor<4xf32>
  // CHECK-NEXT: graph.round %12 : tensor<4xf32>
  %13 = graph.round %12 : tensor<4xf32>
  return %13 : tensor<4xf32>
}

// CHECK-LABEL: @activations
func.func @activations(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NEXT: graph.relu %arg0 : tensor<4xbf16>
  %0 = graph.relu %x : tensor<4xbf16>
  // CHECK-NEXT: graph.sigmoid %0 : tensor<4xbf16>
  %1 = graph.sigmoid %0 : tensor<4xbf16>
  // CHECK-NEXT: graph.silu %1 : tensor<4xbf16>
  %2 = graph.silu %1 : tensor<4xbf16>
  // CHECK-NEXT: graph.gelu %2 : tensor<4xbf16>
  %3 = graph.gelu %2 : tensor<4xbf16>
  // CHECK-NEXT: graph.quick_gelu %3 : tensor<4xbf16>
  %4 = graph.quick_gelu %3 : tensor<4xbf16>
  return %4 : tensor<4xbf16>
}

// CHECK-LABEL: @signs_of_floats_and_integers
func.func @signs_of_floats_and_integers(%x: tensor<4xf16>, %n: tensor<4xi8>, %u: tensor<4xui8>) -> (tensor<4xf16>, tensor<4xi8>, tensor<4xui8>) {
  // CHECK-NEXT: graph.neg %arg0 : tensor<4xf16>
  %0 = graph.neg %x : tensor<4xf16>
  // CHECK-NEXT: graph.neg %arg1 : tensor<4xi8>
  %1 = graph.neg %n : tensor<4xi8>
  // CHECK-NEXT: graph.abs %arg2 : tensor<4xui8>
  %2 = graph.abs %u : tensor<4xui8>
  return %0, %1, %2 : tensor<4xf16>, tensor<4xi8>, tensor<4xui8>
}

// CHECK-LABEL: @arithmetic_of_unsigned_integers
func.func @arithmetic_of_unsigned_integers(%x: tensor<4xui32>, %y: tensor<4xui32>) -> tensor<4xui32> {
  // CHECK-NEXT: graph.add %arg0, %arg1 : tensor<4xui32>
  %0 = graph.add %x, %y : tensor<4xui32>
  // CHECK-NEXT: graph.sub %0, %arg1 : tensor<4xui32>
  %1 = graph.sub %0, %y : tensor<4xui32>
  // CHECK-NEXT: graph.mul %1, %arg1 : tensor<4xui32>
  %2 = graph.mul %1, %y : tensor<4xui32>
  // CHECK-NEXT: graph.max %2, %arg1 : tensor<4xui32>
  %3 = graph.max %2, %y : tensor<4xui32>
  // CHECK-NEXT: graph.min %3, %arg1 : tensor<4xui32>
  %4 = graph.min %3, %y : tensor<4xui32>
  // CHECK-NEXT: graph.div %4, %arg1 : tensor<4xui32>
  %5 = graph.div %4, %y : tensor<4xui32>
  // CHECK-NEXT: graph.rem %5, %arg1 : tensor<4xui32>
  %6 = graph.rem %5, %y : tensor<4xui32>
  return %6 : tensor<4xui32>
}

// CHECK-LABEL: @a_power_of_doubles
func.func @a_power_of_doubles(%x: tensor<f64>) -> tensor<f64> {
  // CHECK-NEXT: graph.pow %arg0, %arg0 : tensor<f64>
  %0 = graph.pow %x, %x : tensor<f64>
  return %0 : tensor<f64>
}

// CHECK-LABEL: @bits_of_integers
func.func @bits_of_integers(%x: tensor<4xi16>, %y: tensor<4xi16>) -> tensor<4xi16> {
  // CHECK-NEXT: graph.and %arg0, %arg1 : tensor<4xi16>
  %0 = graph.and %x, %y : tensor<4xi16>
  // CHECK-NEXT: graph.or %0, %arg1 : tensor<4xi16>
  %1 = graph.or %0, %y : tensor<4xi16>
  // CHECK-NEXT: graph.xor %1, %arg1 : tensor<4xi16>
  %2 = graph.xor %1, %y : tensor<4xi16>
  // CHECK-NEXT: graph.not %2 : tensor<4xi16>
  %3 = graph.not %2 : tensor<4xi16>
  // CHECK-NEXT: graph.shift_left %3, %arg1 : tensor<4xi16>
  %4 = graph.shift_left %3, %y : tensor<4xi16>
  // CHECK-NEXT: graph.shift_right %4, %arg1 : tensor<4xi16>
  %5 = graph.shift_right %4, %y : tensor<4xi16>
  return %5 : tensor<4xi16>
}

// CHECK-LABEL: @logic_of_truth_values
func.func @logic_of_truth_values(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: graph.and %arg0, %arg1 : tensor<4xi1>
  %0 = graph.and %x, %y : tensor<4xi1>
  // CHECK-NEXT: graph.not %0 : tensor<4xi1>
  %1 = graph.not %0 : tensor<4xi1>
  return %1 : tensor<4xi1>
}

// CHECK-LABEL: @every_predicate_yields_truth_values
func.func @every_predicate_yields_truth_values(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %0 = graph.compare eq %arg0, %arg1 : tensor<4xf32>
  %0 = graph.compare eq %x, %y : tensor<4xf32>
  // CHECK-NEXT: graph.compare ne %0, %0 : tensor<4xi1>
  %1 = graph.compare ne %0, %0 : tensor<4xi1>
  // CHECK-NEXT: graph.compare lt
  %2 = graph.compare lt %x, %y : tensor<4xf32>
  // CHECK-NEXT: graph.compare le
  %3 = graph.compare le %x, %y : tensor<4xf32>
  // CHECK-NEXT: graph.compare gt
  %4 = graph.compare gt %x, %y : tensor<4xf32>
  // CHECK-NEXT: graph.compare ge
  %5 = graph.compare ge %x, %y : tensor<4xf32>
  return %5 : tensor<4xi1>
}

// CHECK-LABEL: @a_choice_of_integers
func.func @a_choice_of_integers(%c: tensor<2x2xi1>, %x: tensor<2x2xui16>) -> tensor<2x2xui16> {
  // CHECK-NEXT: graph.select %arg0, %arg1, %arg1 : tensor<2x2xi1>, tensor<2x2xui16>
  %0 = graph.select %c, %x, %x : tensor<2x2xi1>, tensor<2x2xui16>
  return %0 : tensor<2x2xui16>
}

// CHECK-LABEL: @casts_between_all_kinds
func.func @casts_between_all_kinds(%x: tensor<4xf64>) -> tensor<4xbf16> {
  // CHECK-NEXT: graph.cast %arg0 : tensor<4xf64> -> tensor<4xi1>
  %0 = graph.cast %x : tensor<4xf64> -> tensor<4xi1>
  // CHECK-NEXT: graph.cast %0 : tensor<4xi1> -> tensor<4xui64>
  %1 = graph.cast %0 : tensor<4xi1> -> tensor<4xui64>
  // CHECK-NEXT: graph.cast %1 : tensor<4xui64> -> tensor<4xbf16>
  %2 = graph.cast %1 : tensor<4xui64> -> tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// CHECK-LABEL: @random_numbers_are_floats
func.func @random_numbers_are_floats(%c: tensor<4xi64>, %k: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.random %arg0, %arg1 : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_dropout_with_and_without_a_seed
func.func @a_dropout_with_and_without_a_seed(%x: tensor<4xf32>, %s: tensor<i64>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.dropout %arg0 {rate = 0.000000e+00 : f64} : tensor<4xf32>
  %0 = graph.dropout %x {rate = 0.0 : f64} : tensor<4xf32>
  // CHECK-NEXT: graph.dropout %0 seed %arg1 {rate = 1.000000e+00 : f64} : tensor<4xf32>
  %1 = graph.dropout %0 seed %s {rate = 1.0 : f64} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @the_end_of_gradients
func.func @the_end_of_gradients(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.stop_gradient %arg0 : tensor<4xf32>
  %0 = graph.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
