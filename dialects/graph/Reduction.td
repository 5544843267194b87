// Reduction: elements combined over dims.

#ifndef CLEAVE_GRAPH_REDUCTION
#define CLEAVE_GRAPH_REDUCTION

include "dialects/graph/GraphBase.td"

def Graph_ReduceOp : Graph_PrimitiveOp<"reduce", [InferTypeOpAdaptor, ComputeOp, WidePrecision]> {
  let summary = "Sum, maximum, minimum or product over dims";
  let description = [{
    `result[i…]` is the sum, maximum, minimum or product of `operand` over `dims`, where i are the
    remaining dims. Over no elements it is the identity: 0, the lowest value, the highest value, or
    1. Elements are floats, integers or booleans.

    (C1) The entries of `dims` differ.
    (C2) Each entry is a dim of `operand`.
    (C3) `result` has the dims of `operand` without `dims`, and its element type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %result = graph.reduce sum %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
      return %result : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$kind $operand `over` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif
