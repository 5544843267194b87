// Normalization: softmax and the layer, rms and batch norms; composites that decompose into reductions.

#ifndef CLEAVE_GRAPH_NORMALIZATION
#define CLEAVE_GRAPH_NORMALIZATION

include "dialects/graph/GraphBase.td"

def Graph_SoftmaxOp : Graph_CompositeOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x) over its sum along one dim, computed without overflow";
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
}

def Graph_LogSoftmaxOp : Graph_CompositeOp<"log_softmax", [SameOperandsAndResultType]> {
  let summary = "x - log(sum(exp(x))) along one dim";
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
}

def Graph_LayerNormOp : Graph_CompositeOp<"layer_norm", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the last dims";
  let description = "The normalised dims are those of `scale` and `bias`, which have the operand's last dims.";
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias,
                       F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat =
    "$operand `,` $scale `,` $bias attr-dict `:` type($operand) `,` type($scale) `,` type($bias)";
  let hasVerifier = 1;
}

def Graph_RmsNormOp : Graph_CompositeOp<"rms_norm", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over the last dims";
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale attr-dict `:` type($operand) `,` type($scale)";
  let hasVerifier = 1;
}

def Graph_BatchNormOp : Graph_CompositeOp<"batch_norm", [
    AllTypesMatch<["operand", "result"]>,
    AllTypesMatch<["scale", "bias", "running_mean", "running_var", "new_mean", "new_var"]>]> {
  let summary = "Normalisation of every channel (dim 1) by the statistics of the whole batch";
  let description = [{
    result = (x - mean) / sqrt(var + epsilon) * scale + bias with the biased variance. The running statistics move by
    `momentum` (PyTorch's: the weight of the new value) towards the mean and the unbiased variance.
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias,
                       Graph_FloatTensor:$running_mean, Graph_FloatTensor:$running_var,
                       F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs Graph_FloatTensor:$result, Graph_FloatTensor:$new_mean, Graph_FloatTensor:$new_var);
  let assemblyFormat = [{
    $operand `,` $scale `,` $bias `running` $running_mean `,` $running_var attr-dict
    `:` type($operand) `,` type($scale)
  }];
  let hasVerifier = 1;
}

#endif
