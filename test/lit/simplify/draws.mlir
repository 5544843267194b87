// Random numbers beside a known probability, as stochastic depth uses them.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @uniform_plus_p_rounded_down
func.func @uniform_plus_p_rounded_down(%c: tensor<4xi64>, %k: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK: %[[KEPT:.*]] = graph.dropout %{{.*}} {rate = 2.500000e-01 : f64} : tensor<4xf32>
  // CHECK: graph.mul %[[KEPT]]
  // CHECK-NOT: graph.floor
  %p = graph.constant dense<0.75> : tensor<4xf32>
  %u = graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.add %p, %u : tensor<4xf32>
  %1 = graph.floor %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @uniform_below_p
func.func @uniform_below_p(%c: tensor<4xi64>, %k: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK: graph.dropout %{{.*}} {rate = 2.500000e-01 : f64} : tensor<4xf32>
  // CHECK-NOT: graph.compare
  %p = graph.constant dense<0.75> : tensor<4xf32>
  %u = graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.compare lt %u, %p : tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xi1> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @numbers_that_are_read_twice_stay
func.func @numbers_that_are_read_twice_stay(%c: tensor<4xi64>, %k: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: graph.dropout
  // CHECK: return
  %p = graph.constant dense<0.75> : tensor<4xf32>
  %u = graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.compare lt %u, %p : tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xi1> -> tensor<4xf32>
  return %1, %u : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @a_probability_that_is_computed_stays
func.func @a_probability_that_is_computed_stays(%p: tensor<4xf32>, %c: tensor<4xi64>, %k: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK-NOT: graph.dropout
  // CHECK: return
  %u = graph.random %c, %k : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.compare lt %u, %p : tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xi1> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @a_dropout_of_ones_is_no_constant
func.func @a_dropout_of_ones_is_no_constant() -> tensor<4xf32> {
  // CHECK: graph.dropout
  // CHECK: return
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.dropout %one {rate = 2.500000e-01 : f64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
