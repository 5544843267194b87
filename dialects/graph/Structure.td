// Structure: constants, counting, the boundary between micro-batches and the update, and kernel groups.

#ifndef CLEAVE_GRAPH_STRUCTURE
#define CLEAVE_GRAPH_STRUCTURE

include "dialects/graph/GraphBase.td"

def Graph_ConstantOp : Graph_PrimitiveOp<"constant", [ConstantLike, InferTypeOpAdaptor], Graph_OwnPartition> {
  let summary = "Known elements; weights are arguments of the step, not constants";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Graph_SizesOp : Graph_PrimitiveOp<"sizes"> {
  let summary = "Numbers that follow from symbolic dims; a constant as soon as all symbols have values";
  let description = [{
    One polynomial per element, row-major, each divided by the polynomial `divisor`; a divisor below 1 counts
    as 1. Symbols.h gives the symbols values.
  }];
  let arguments = (ins StrArrayAttr:$values, DefaultValuedStrAttr<StrAttr, "1">:$divisor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$values attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_PrimitiveOp<"iota", [], Graph_OwnPartition> {
  let summary = "Every element is its own index along one dim";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_AccumulateOp : Graph_PrimitiveOp<"accumulate", [SameOperandsAndResultType]> {
  let summary = "The sum of the operand over all micro-batches of the step";
  let description = [{
    The boundary of gradient accumulation: what it depends on is computed once per micro-batch, what depends on it once a
    step. All its uses have the same `count`. Evaluated on one micro-batch it is the identity; whoever runs a
    step adds up.
  }];
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$count);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `count` $count attr-dict `:` type($result)";
}

def Graph_FusionOp : Graph_Op<"fusion", [
    Graph_ClonedPartition, Pure, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<ReferenceInterface>]> {
  let summary = "A kernel group: ops that run as one kernel";
  let description = [{
    The block's arguments are the operands, what it yields are the results. From the phase that forms it on it is one
    unit: one factor rule, one strategy, one launch.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, HasParent<"FusionOp">]> {
  let summary = "The results of a kernel group";
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}

#endif
