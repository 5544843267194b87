// Sequence: ops that depend on the order of elements along one dim: scan and sort.

#ifndef CLEAVE_GRAPH_SEQUENCE
#define CLEAVE_GRAPH_SEQUENCE

include "dialects/graph/GraphBase.td"

def Graph_ScanOp : Graph_PrimitiveOp<"scan", [
    SameOperandsAndResultType, OwnKernel, WidePrecision]> {
  let summary = "Inclusive prefix sum, maximum, minimum or product along a dim";
  let description = [{
    `result[…, i, …] = reduce over j <= i of operand[…, j, …]` along `dim`. Elements are floats,
    integers or booleans.

    (C1) `operand` and `result` have the same type.
    (C2) `dim` is a dim of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.scan sum %x dim 1 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $operand `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_SortOp : Graph_PrimitiveOp<"sort", [
    AllTypesMatch<["operand", "values"]>, InferTypeOpAdaptor, OwnKernel]> {
  let summary = "Stable sort along a dim, with the indices of the elements";
  let description = [{
    `values[…, i, …] = operand[…, indices[…, i, …], …]` along `dim`, in ascending order, or in
    descending order with `descending`. Equal elements keep their order; NaN is larger than all
    numbers. Elements are floats, integers or booleans.

    (C1) `operand` and `values` have the same type.
    (C2) `dim` is a dim of `operand`.
    (C3) `indices` has the shape of `operand` and the element type i64.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>) {
      %values, %indices = graph.sort %x dim 1 {descending} : tensor<4x8xf32>
      return %values, %indices : tensor<4x8xf32>, tensor<4x8xi64>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs Graph_Tensor:$values, Graph_TensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif
