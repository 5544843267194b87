// Attention: scaled dot-product attention and the rotation of queries and keys by their positions; composites that
// simplification finds in what exporters spell out.

#ifndef CLEAVE_GRAPH_ATTENTION
#define CLEAVE_GRAPH_ATTENTION

include "dialects/graph/GraphBase.td"

def Graph_AttentionOp : Graph_DroppingOp<"attention", [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "softmax(scale q kᵀ + bias, where the mask allows) v, for every head";
  let description = [{
    query [batch…, heads, queries, width], key [batch…, groups, keys, width], value [batch…, groups, keys, depth] give
    [batch…, heads, queries, depth]; `groups` divides `heads`, and heads next to each other share a key and a value head.
    `bias` and `mask` are [batch…, heads, queries, keys]. A score counts where `mask` is true and, with `causal`, where
    key <= query; elsewhere it is `fill`, minus infinity if absent. With `safe`, weights that are not numbers (of a query
    with nothing to attend to) are zero. Weights are computed in float32 at least. With `dropout`, what sums the values are
    the weights behind a graph.dropout of this rate and of `seed`.
  }];
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key, Graph_FloatTensor:$value,
                       Optional<Graph_FloatTensor>:$bias, Optional<Graph_BoolTensor>:$mask,
                       Optional<Graph_Seed>:$seed, F64Attr:$scale, UnitAttr:$causal, UnitAttr:$safe,
                       OptionalAttr<F64Attr>:$fill, OptionalAttr<Graph_DropRate>:$dropout);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? (`seed` $seed^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // How many neighbouring heads of the query share one head of key and value.
    int64_t headsPerGroup();
    // What scores are where they do not count.
    double fillValue();
  }];
}

def Graph_RotaryOp : Graph_CompositeOp<"rotary", [SameOperandsAndResultType]> {
  let summary = "x cos + r(x) sin, where r turns every pair (a, b) of the last dim to (-b, a)";
  let description = [{
    A pair is an element of the first half and the same one of the second half, or with `interleaved` two neighbours.
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$cos, Graph_FloatTensor:$sin,
                       UnitAttr:$interleaved);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cos `,` $sin attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
