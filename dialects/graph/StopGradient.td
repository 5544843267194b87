// Where gradients end. A file of its own, not one of GraphOps.td's: few have to know this op.

#ifndef CLEAVE_GRAPH_STOP_GRADIENT
#define CLEAVE_GRAPH_STOP_GRADIENT

include "dialects/graph/GraphBase.td"

def Graph_StopGradientOp : Graph_CompositeOp<"stop_gradient", [SameOperandsAndResultType]> {
  let summary = "The operand, as a constant to gradients";
  let description = [{
    Nothing of what depends on the result reaches the operand's gradient. Once there are gradients, or where none are
    asked for, it means its operand.
  }];
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

#endif
