// Reduction: dims that are combined away.

#ifndef CLEAVE_GRAPH_REDUCTION
#define CLEAVE_GRAPH_REDUCTION

include "dialects/graph/GraphBase.td"

def Graph_ReduceOp : Graph_PrimitiveOp<"reduce", [InferTypeOpAdaptor]> {
  let summary = "Sum, maximum, minimum or product over some dims, which vanish";
  let arguments = (ins Graph_ReduceKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $operand `over` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif
