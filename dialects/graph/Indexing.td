// Indexing: rows selected by a tensor of indices.

#ifndef CLEAVE_GRAPH_INDEXING
#define CLEAVE_GRAPH_INDEXING

include "dialects/graph/GraphBase.td"

def Graph_GatherOp : Graph_PrimitiveOp<"gather", [InferTypeOpAdaptor, OwnKernel, TableLookup],
                                       Graph_OwnPartition> {
  let summary = "Rows selected by indices";
  let description = [{
    `result[b…, a…, i…, c…] = operand[b…, a…, indices[b…, i…], c…]`, or 0 where the index is
    negative or too large. There are `batch` dims b; the other dims i of `indices` replace `dim`.
    Because rows out of range are 0, the results of ranks that each hold a block of the rows add up
    to the whole result. `operand` has any element type, `indices` are integers.

    (C1) `dim` is a dim of `operand`.
    (C2) `batch` is between 0 and `dim`, and the first `batch` dims of `operand` and `indices` are
         the same.
    (C3) `result` has the shape of `operand` with the dims of `indices` after the first `batch` in
         place of `dim`, and the element type of `operand`.

    ```mlir
    func.func @example(%table: tensor<64x8xf32>, %i: tensor<2x5xi64>) -> tensor<2x5x8xf32> {
      %result = graph.gather %table at %i dim 0
        : tensor<64x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>
      return %result : tensor<2x5x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_IntTensor:$indices, I64Attr:$dim,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$batch);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$operand `at` $indices `dim` $dim attr-dict "
    "`:` type($operand) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ScatterOp : Graph_PrimitiveOp<"scatter", [OwnKernel], Graph_OwnPartition> {
  let summary = "Rows combined at indices";
  let description = [{
    `result[b…, a…, r, c…]` is the sum, maximum, minimum or product of `updates[b…, a…, i…, c…]`
    over all i with `indices[b…, i…] = r`, where r is the index along `dim`. Without such an i it is
    the identity of the reduction: 0, the lowest value, the highest value, or 1. Updates whose
    index is negative or too large are ignored. `updates` have any element type, `indices` are
    integers.

    (C1) `dim` is a dim of `result`.
    (C2) `batch` is between 0 and `dim`, and the first `batch` dims of `result` and `indices` are
         the same.
    (C3) `updates` has the shape of `result` with the dims of `indices` after the first `batch` in
         place of `dim`, and the element type of `result`.

    ```mlir
    func.func @example(%rows: tensor<5x8xf32>, %i: tensor<5xi64>) -> tensor<64x8xf32> {
      %result = graph.scatter sum %rows at %i dim 0
        : tensor<5x8xf32>, tensor<5xi64> -> tensor<64x8xf32>
      return %result : tensor<64x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$updates,
                       Graph_IntTensor:$indices, I64Attr:$dim,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$batch);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$kind $updates `at` $indices `dim` $dim attr-dict "
    "`:` type($updates) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

#endif
