// Sequence: ops that need the elements along one dim in their order: scans and sorting.

#ifndef CLEAVE_GRAPH_SEQUENCE
#define CLEAVE_GRAPH_SEQUENCE

include "dialects/graph/GraphBase.td"

def Graph_ScanOp : Graph_PrimitiveOp<"scan", [SameOperandsAndResultType]> {
  let summary = "Along one dim, the sum (maximum, minimum, product) of all elements up to each";
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $operand `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_SortOp : Graph_PrimitiveOp<"sort", [AllTypesMatch<["operand", "values"]>, InferTypeOpAdaptor]> {
  let summary = "The elements along one dim from small to large, and where each stood";
  let description = [{
    With `descending` from large to small. Equal elements keep their order; NaN counts as larger than all numbers.
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs Graph_Tensor:$values, TensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif
