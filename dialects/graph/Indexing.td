// Indexing: rows chosen by numbers in another tensor.

#ifndef CLEAVE_GRAPH_INDEXING
#define CLEAVE_GRAPH_INDEXING

include "dialects/graph/GraphBase.td"

def Graph_GatherOp : Graph_PrimitiveOp<"gather", [InferTypeOpAdaptor], Graph_OwnPartition> {
  let summary = "result[a…, i…, c…] = operand[a…, indices[i…], c…]; zero where the index is out of range";
  let description = [{
    The dims of `indices` take the place of dim `dim`. Out of range means negative or too large; because such a row is
    zero, a rank that holds a block of the rows gives a summand of the result.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_IntTensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$operand `at` $indices `dim` $dim attr-dict `:` type($operand) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ScatterAddOp : Graph_PrimitiveOp<"scatter_add", [], Graph_OwnPartition> {
  let summary = "The gradient of gather: result[a…, indices[i…], c…] += updates[a…, i…, c…], from zero";
  let description = "Updates whose index is out of range are dropped.";
  let arguments = (ins Graph_Tensor:$updates, Graph_IntTensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat =
    "$updates `at` $indices `dim` $dim attr-dict `:` type($updates) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

#endif
