// Loss: scalars to minimise.

#ifndef CLEAVE_GRAPH_LOSS
#define CLEAVE_GRAPH_LOSS

include "dialects/graph/GraphBase.td"

def Graph_SoftmaxCrossEntropyOp : Graph_CompositeOp<"softmax_cross_entropy", [InferTypeOpAdaptor]> {
  let summary = "Mean over the labels of -log softmax(logits)[label]; the classes are the last dim";
  let description = "Labels equal to `ignore_index` count neither above nor below the fraction line.";
  let arguments = (ins Graph_FloatTensor:$logits, Graph_IntTensor:$labels,
                       DefaultValuedOptionalAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($result)";
  let hasVerifier = 1;
}

#endif
