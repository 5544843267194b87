// Optimizer: one step of one parameter, with PyTorch's meaning of every hyperparameter.

#ifndef CLEAVE_GRAPH_OPTIMIZER
#define CLEAVE_GRAPH_OPTIMIZER

include "dialects/graph/GraphBase.td"

def Graph_SgdOp : Graph_CompositeOp<"sgd", [
    AllTypesMatch<["parameter", "gradient", "velocity", "new_parameter", "new_velocity"]>]> {
  let summary = "Gradient descent with momentum";
  let description = [{
    g' = g + weight_decay p; v' = momentum v + (1 - dampening) g' (v' = g' at the first step: `step` counts from 1);
    p' = p - lr v', or with nesterov p - lr (g' + momentum v').
  }];
  let arguments = (ins Graph_FloatTensor:$parameter, Graph_FloatTensor:$gradient, Graph_FloatTensor:$velocity,
                       Graph_FloatTensor:$step, F64Attr:$lr, F64Attr:$momentum, F64Attr:$dampening,
                       F64Attr:$weight_decay, UnitAttr:$nesterov);
  let results = (outs Graph_FloatTensor:$new_parameter, Graph_FloatTensor:$new_velocity);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $velocity `step` $step attr-dict `:` type($parameter) `,` type($step)
  }];
}

def Graph_AdamOp : Graph_CompositeOp<"adam", [
    AllTypesMatch<["parameter", "gradient", "first_moment", "second_moment", "new_parameter",
                   "new_first_moment", "new_second_moment"]>]> {
  let summary = "Adam, or with `decoupled` AdamW";
  let description = [{
    m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2;
    p' = p - lr m'/(1 - beta1^step) / (sqrt(v' / (1 - beta2^step)) + eps), `step` counting from 1.
    Weight decay: decoupled p (1 - lr weight_decay) before the step, otherwise g + weight_decay p as gradient.
  }];
  let arguments = (ins Graph_FloatTensor:$parameter, Graph_FloatTensor:$gradient,
                       Graph_FloatTensor:$first_moment, Graph_FloatTensor:$second_moment,
                       Graph_FloatTensor:$step, F64Attr:$lr, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps,
                       F64Attr:$weight_decay, UnitAttr:$decoupled);
  let results = (outs Graph_FloatTensor:$new_parameter, Graph_FloatTensor:$new_first_moment,
                      Graph_FloatTensor:$new_second_moment);
  let assemblyFormat = [{
    $parameter `,` $gradient `moments` $first_moment `,` $second_moment `step` $step attr-dict
    `:` type($parameter) `,` type($step)
  }];
}

#endif
