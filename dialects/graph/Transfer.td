// Transfer: the border between two chunks of a pipeline. Not included by GraphOps.td, because few
// files need this op.

#ifndef CLEAVE_GRAPH_TRANSFER
#define CLEAVE_GRAPH_TRANSFER

include "dialects/graph/GraphBase.td"

def Graph_TransferOp : Graph_PrimitiveOp<"transfer", [SameOperandsAndResultType, LayoutOnly, UnaryCopy, ElementCopy]> {
  let summary = "Identity at the border between two chunks of a pipeline";
  let description = [{
    `result = operand`. The operand is computed by the chunk `from` of the model, and the result is read by the chunk
    `to`. Its gradient is the transfer of the gradient from `to` to `from`. Splitting the step into stages (passes/stage)
    replaces the op by a message, unless both chunks are on one stage.

    (C1) `operand` and `result` have the same type.
    (C2) `from` and `to` are different, and none is negative.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.transfer %x from 0 to 1 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$from, I64Attr:$to);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `from` $from `to` $to attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
