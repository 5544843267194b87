// StopGradient: the end of gradients. Not included by GraphOps.td, because few files need this op.

#ifndef CLEAVE_GRAPH_STOP_GRADIENT
#define CLEAVE_GRAPH_STOP_GRADIENT

include "dialects/graph/GraphBase.td"

def Graph_StopGradientOp : Graph_CompositeOp<"stop_gradient", [SameOperandsAndResultType]> {
  let summary = "Identity with gradient 0";
  let description = [{
    `result = operand`; the gradient of `operand` through this op is 0. Elements are floats.

    (C1) `operand` and `result` have the same type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.stop_gradient %x : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

#endif
