// Normalization: softmax, log_softmax, and layer, RMS and batch norm. All are composites.

#ifndef CLEAVE_GRAPH_NORMALIZATION
#define CLEAVE_GRAPH_NORMALIZATION

include "dialects/graph/GraphBase.td"

def Graph_SoftmaxOp : Graph_CompositeOp<"softmax", [SameOperandsAndResultType, WidePrecision]> {
  let summary = "Softmax along a dim";
  let description = [{
    `result = exp(operand) / sum(exp(operand))` with the sum along `dim`. The maximum along `dim` is
    subtracted from the operand first, so that exp does not overflow. Elements are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `dim` is a dim of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.softmax %x dim 1 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_LogSoftmaxOp : Graph_CompositeOp<"log_softmax", [SameOperandsAndResultType, WidePrecision]> {
  let summary = "Logarithm of softmax along a dim";
  let description = [{
    `result = operand - log(sum(exp(operand)))` with the sum along `dim`, computed without overflow
    of exp as in graph.softmax. Elements are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `dim` is a dim of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.log_softmax %x dim 1 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_LayerNormOp : Graph_CompositeOp<"layer_norm", [
    AllTypesMatch<["operand", "result"]>, Normalization, WidePrecision]> {
  let summary = "Layer normalization over the last dims";
  let description = [{
    `result = (operand - mean) / sqrt(variance + epsilon) * scale + bias`, with mean and biased
    variance over the last dims of `operand`, as many as `scale` has. All tensors are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `scale` and `bias` have the shape of the last dims of `operand`.
    (C3) `scale` and `bias` have the element type of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>)
        -> tensor<4x8xf32> {
      %result = graph.layer_norm %x, %scale, %bias {epsilon = 1.0e-05 : f64}
        : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat =
    "$operand `,` $scale `,` $bias attr-dict `:` type($operand) `,` type($scale) `,` type($bias)";
  let hasVerifier = 1;
}

def Graph_RmsNormOp : Graph_CompositeOp<"rms_norm", [
    AllTypesMatch<["operand", "result"]>, Normalization, WidePrecision]> {
  let summary = "Root mean square normalization over the last dims";
  let description = [{
    `result = operand / sqrt(mean(operand^2) + epsilon) * scale`, with the mean over the last dims
    of `operand`, as many as `scale` has. All tensors are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `scale` has the shape of the last dims of `operand`.
    (C3) `scale` has the element type of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
      %result = graph.rms_norm %x, %scale {epsilon = 1.0e-06 : f64}
        : tensor<4x8xf32>, tensor<8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale attr-dict `:` type($operand) `,` type($scale)";
  let hasVerifier = 1;
}

def Graph_BatchNormOp : Graph_CompositeOp<"batch_norm", [
    Normalization, WidePrecision, NarrowResult,
    AllTypesMatch<["operand", "result"]>,
    AllTypesMatch<["scale", "bias", "running_mean", "running_var", "new_mean", "new_var"]>]> {
  let summary = "Batch normalization in training, with running statistics";
  let description = [{
    `result = (operand - mean) / sqrt(variance + epsilon) * scale + bias`, with mean and biased
    variance of each channel (dim 1) over all other dims of the whole batch.
    `new_mean = (1 - momentum) * running_mean + momentum * mean`; `new_var` likewise, with the
    unbiased variance. All tensors are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `scale`, `bias`, `running_mean`, `running_var`, `new_mean` and `new_var` have the same
         type.
    (C3) `operand` has at least 2 dims, and `scale` has one dim, of the size of dim 1 of `operand`.
    (C4) `scale` has the element type of `operand`.

    ```mlir
    func.func @example(%x: tensor<2x3x8xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>,
                       %mean: tensor<3xf32>, %var: tensor<3xf32>)
        -> (tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>) {
      %result:3 = graph.batch_norm %x, %scale, %bias running %mean, %var {
          epsilon = 1.0e-05 : f64, momentum = 0.1 : f64}
        : tensor<2x3x8xf32>, tensor<3xf32>
      return %result#0, %result#1, %result#2 : tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_FloatTensor:$running_mean,
                       Graph_FloatTensor:$running_var,
                       F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs Graph_FloatTensor:$result, Graph_FloatTensor:$new_mean,
                      Graph_FloatTensor:$new_var);
  let assemblyFormat = [{
    $operand `,` $scale `,` $bias `running` $running_mean `,` $running_var attr-dict
    `:` type($operand) `,` type($scale)
  }];
  let hasVerifier = 1;
}

#endif
