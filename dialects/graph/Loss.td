// Loss: scalars that training minimises.

#ifndef CLEAVE_GRAPH_LOSS
#define CLEAVE_GRAPH_LOSS

include "dialects/graph/GraphBase.td"

def Graph_SoftmaxCrossEntropyOp
    : Graph_CompositeOp<"softmax_cross_entropy", [InferTypeOpAdaptor, WidePrecision]> {
  let summary = "Mean cross entropy of logits and labels";
  let description = [{
    `result` is the mean of `-log(softmax(logits[i…]))[labels[i…]]` over all i with
    `labels[i…] != ignore_index`; the classes are the last dim of `logits`. A label that is neither
    a class nor `ignore_index` adds 0 to the sum but is counted. The mean over no labels is NaN.
    `logits` are floats, `labels` integers.

    (C1) `labels` has the shape of `logits` without its last dim.
    (C2) `result` is a scalar of the element type of `logits`.

    ```mlir
    func.func @example(%logits: tensor<4x10xf32>, %labels: tensor<4xi64>) -> tensor<f32> {
      %result = graph.softmax_cross_entropy %logits, %labels
        : tensor<4x10xf32>, tensor<4xi64> -> tensor<f32>
      return %result : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$logits, Graph_IntTensor:$labels,
                       DefaultValuedOptionalAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat =
    "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($result)";
  let hasVerifier = 1;
}

#endif
