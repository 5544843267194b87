// Ops without a gradient between the loss and the float arguments.
// RUN: cleave-opt --cleave-autodiff-gradients --verify-diagnostics --split-input-file %s

func.func @the_gradient_of_a_pool_is_not_differentiated(
    // expected-note @below {{this operand depends on trainable parameters}}
    %dy: tensor<1x1x4xf32>, %x: tensor<1x1x8xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.pool_grad' has no gradient, but the loss depends on trainable parameters through it; freeze them or choose another loss}}
  %y = graph.pool_grad average %dy, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<1x1x4xf32>, tensor<1x1x8xf32> -> tensor<1x1x8xf32>
  %loss = graph.reduce sum %y over [0, 1, 2] : tensor<1x1x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @a_group_is_formed_after_differentiation(
    // expected-note @below {{this operand depends on trainable parameters}}
    %x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'graph.fusion' has no gradient}}
  %y = graph.fusion (%a = %x : tensor<f32>) -> (tensor<f32>) {
    %0 = graph.exp %a : tensor<f32>
    graph.yield %0 : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

func.func @the_note_is_at_the_first_operand_that_depends_on_parameters(%dy: tensor<1x1x4xi32>, %p: tensor<1x1x8xf32>) -> tensor<f32> {
  %c = graph.cast %dy : tensor<1x1x4xi32> -> tensor<1x1x4xf32>
  // expected-note @below {{this operand depends on trainable parameters}}
  %x = graph.exp %p : tensor<1x1x8xf32>
  // expected-error @below {{'graph.pool_grad' has no gradient}}
  %y = graph.pool_grad max %c, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<1x1x4xf32>, tensor<1x1x8xf32> -> tensor<1x1x8xf32>
  %loss = graph.reduce sum %y over [0, 1, 2] : tensor<1x1x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @an_op_that_the_loss_does_not_depend_on_may_lack_a_gradient(%p: tensor<1x1x4xf32>, %x: tensor<1x1x8xf32>) -> tensor<f32> {
  %y = graph.pool_grad average %p, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<1x1x4xf32>, tensor<1x1x8xf32> -> tensor<1x1x8xf32>
  %loss = graph.reduce sum %p over [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @a_stop_before_an_op_without_gradient_makes_it_harmless(%p: tensor<1x1x8xf32>, %dy: tensor<1x1x4xf32>) -> tensor<f32> {
  %x = graph.stop_gradient %p : tensor<1x1x8xf32>
  %s = graph.stop_gradient %dy : tensor<1x1x4xf32>
  %y = graph.pool_grad average %s, %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_low = array<i64: 0>, pads_high = array<i64: 0>} : tensor<1x1x4xf32>, tensor<1x1x8xf32> -> tensor<1x1x8xf32>
  %z = graph.mul %y, %p : tensor<1x1x8xf32>
  %loss = graph.reduce sum %z over [0, 1, 2] : tensor<1x1x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
