// RUN: cleave-opt --cleave-autodiff-gradients --verify-diagnostics %s

// expected-note @below {{this operand depends on trainable parameters}}
func.func @an_optimizer_has_no_gradient(%p: tensor<f32>, %v: tensor<f32>, %t: tensor<f64>) -> tensor<f32> {
  // expected-error @below {{'graph.sgd' has no gradient, but the loss depends on trainable parameters through it; freeze them or choose another loss}}
  %y, %nv = graph.sgd %p, %p, %v step %t {lr = 0.1 : f64, momentum = 0.9 : f64, dampening = 0.0 : f64, weight_decay = 0.0 : f64} : tensor<f32>, tensor<f64>
  return %y : tensor<f32>
}
