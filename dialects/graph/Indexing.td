// Indexing: rows chosen by numbers in another tensor.

#ifndef CLEAVE_GRAPH_INDEXING
#define CLEAVE_GRAPH_INDEXING

include "dialects/graph/GraphBase.td"

def Graph_GatherOp : Graph_PrimitiveOp<"gather", [InferTypeOpAdaptor], Graph_OwnPartition> {
  let summary = "result[b…, a…, i…, c…] = operand[b…, a…, indices[b…, i…], c…]; zero where the index is out of range";
  let description = [{
    The first `batch` dims of both operands are the same and stay in front; the other dims of `indices` take the place of
    dim `dim`. Out of range means negative or too large; because such a row is zero, a rank that holds a block of the
    rows gives a summand of the result.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_IntTensor:$indices, I64Attr:$dim,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$batch);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$operand `at` $indices `dim` $dim attr-dict `:` type($operand) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ScatterOp : Graph_PrimitiveOp<"scatter", [], Graph_OwnPartition> {
  let summary = "Rows combined where their index says: gather the other way round";
  let description = [{
    result[b…, a…, r, c…] is the sum (maximum, minimum, product) of updates[b…, a…, i…, c…] over all i with
    indices[b…, i…] = r; where there is none, what the reduction begins with: 0, the least number, the largest, 1.
    Updates whose index is out of range are dropped.
  }];
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$updates, Graph_IntTensor:$indices, I64Attr:$dim,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$batch);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$kind $updates `at` $indices `dim` $dim attr-dict `:` type($updates) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

#endif
