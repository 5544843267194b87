// Optimizer: the update of one parameter in one step. Hyperparameters are those of PyTorch.

#ifndef CLEAVE_GRAPH_OPTIMIZER
#define CLEAVE_GRAPH_OPTIMIZER

include "dialects/graph/GraphBase.td"

def Graph_SgdOp : Graph_CompositeOp<"sgd", [
    AllTypesMatch<["parameter", "gradient", "velocity", "new_parameter", "new_velocity"]>]> {
  let summary = "Stochastic gradient descent with momentum";
  let description = [{
    With parameter p, gradient g and velocity v: `g' = g + weight_decay * p`,
    `v' = momentum * v + (1 - dampening) * g'`, or `v' = g'` if `step` is 1, and
    `p' = p - lr * v'`, or `p' = p - lr * (g' + momentum * v')` with `nesterov`. `step` is a scalar
    that counts from 1. All tensors are floats.

    (C1) `parameter`, `gradient`, `velocity`, `new_parameter` and `new_velocity` have the same type.
    (C2) `step` is a scalar.

    ```mlir
    func.func @example(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %v: tensor<4x8xf32>,
                       %step: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
      %parameter, %velocity = graph.sgd %p, %g, %v step %step {
          lr = 0.1 : f64, momentum = 0.9 : f64, dampening = 0.0 : f64, weight_decay = 0.0 : f64}
        : tensor<4x8xf32>, tensor<f32>
      return %parameter, %velocity : tensor<4x8xf32>, tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$parameter, Graph_FloatTensor:$gradient,
                       Graph_FloatTensor:$velocity, Graph_FloatScalar:$step, F64Attr:$lr,
                       F64Attr:$momentum, F64Attr:$dampening, F64Attr:$weight_decay,
                       UnitAttr:$nesterov);
  let results = (outs Graph_FloatTensor:$new_parameter, Graph_FloatTensor:$new_velocity);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $velocity `step` $step attr-dict
    `:` type($parameter) `,` type($step)
  }];
}

def Graph_AdamOp : Graph_CompositeOp<"adam", [
    AllTypesMatch<["parameter", "gradient", "first_moment", "second_moment", "new_parameter",
                   "new_first_moment", "new_second_moment"]>]> {
  let summary = "Adam, or with `decoupled` AdamW";
  let description = [{
    With parameter p, gradient g and moments m and v: `m' = beta1 * m + (1 - beta1) * g`,
    `v' = beta2 * v + (1 - beta2) * g^2` and
    `p' = p - lr * (m' / (1 - beta1^step)) / (sqrt(v' / (1 - beta2^step)) + eps)`. Weight decay
    replaces p by `p * (1 - lr * weight_decay)` with `decoupled`, and g by `g + weight_decay * p`
    without it. `step` is a scalar that counts from 1. All tensors are floats.

    (C1) `parameter`, `gradient`, `first_moment`, `second_moment`, `new_parameter`,
         `new_first_moment` and `new_second_moment` have the same type.
    (C2) `step` is a scalar.

    ```mlir
    func.func @example(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>,
                       %step: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %result:3 = graph.adam %p, %g moments %m, %v step %step {
          lr = 0.001 : f64, beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-08 : f64,
          weight_decay = 0.01 : f64, decoupled}
        : tensor<8xf32>, tensor<f32>
      return %result#0, %result#1, %result#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$parameter, Graph_FloatTensor:$gradient,
                       Graph_FloatTensor:$first_moment, Graph_FloatTensor:$second_moment,
                       Graph_FloatScalar:$step, F64Attr:$lr, F64Attr:$beta1, F64Attr:$beta2,
                       F64Attr:$eps, F64Attr:$weight_decay, UnitAttr:$decoupled);
  let results = (outs Graph_FloatTensor:$new_parameter, Graph_FloatTensor:$new_first_moment,
                      Graph_FloatTensor:$new_second_moment);
  let assemblyFormat = [{
    $parameter `,` $gradient `moments` $first_moment `,` $second_moment `step` $step attr-dict
    `:` type($parameter) `,` type($step)
  }];
}

#endif
