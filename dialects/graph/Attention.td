// Attention: scaled dot-product attention and rotary position embedding. Exporters write both as
// many simple ops; the simplification passes recognise them.

#ifndef CLEAVE_GRAPH_ATTENTION
#define CLEAVE_GRAPH_ATTENTION

include "dialects/graph/GraphBase.td"

def Graph_AttentionOp
    : Graph_DroppingOp<"attention", [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    `result = dropout(softmax(where(visible, scale * query keyᵀ + bias, fill))) value` for each
    head. The shapes, all of floats except `mask`:

    * query [batch…, heads, queries, width]
    * key [batch…, groups, keys, width], value [batch…, groups, keys, depth]
    * bias and mask (booleans) [batch…, heads, queries, keys]
    * result [batch…, heads, queries, depth]

    `heads / groups` neighbouring heads of the query share one head of key and value. A key is
    visible to a query where `mask` is true and, with `causal`, where its index is at most that of
    the query. `fill` is minus infinity if absent. With `safe`, NaN weights (a query with no visible
    key) become 0. Weights are computed in f32, or f64 for f64 values. `dropout` is the rate of a
    graph.dropout with `seed` on the weights.

    (C1) `query`, `key` and `value` have the same rank, at least 3.
    (C2) `query`, `key` and `value` have the same element type and the same batch dims, `key` and
         `value` the same groups and keys, `query` and `key` the same width.
    (C3) `heads` equals `groups`, or both are numbers and `heads` is a multiple of `groups`.
    (C4) `bias` and `mask` have the shape [batch…, heads, queries, keys].
    (C5) If `seed` is present, so is `dropout`.
    (C6) `dropout` is between 0 and 1.
    (C7) `result` has the shape of `query` with the last dim of `value`, and the element type of
         `value`.

    ```mlir
    func.func @example(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>,
                       %v: tensor<2x2x16x8xf32>) -> tensor<2x4x16x8xf32> {
      %result = graph.attention %q, %k, %v {causal, scale = 0.35 : f64}
        : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>)
        -> tensor<2x4x16x8xf32>
      return %result : tensor<2x4x16x8xf32>
    }
    ```
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
    // The number of neighbouring heads of the query that share one head of key and value.
    int64_t headsPerGroup();
    // The score of a key that is not visible to a query: `fill`, or minus infinity.
    double fillValue();
  }];
}

def Graph_RotaryOp : Graph_CompositeOp<"rotary", [SameOperandsAndResultType]> {
  let summary = "Rotary position embedding";
  let description = [{
    `result = operand * cos + r(operand) * sin`, where r maps each pair (a, b) of the last dim to
    (-b, a). Element i of the first half and element i of the second half are a pair, or with
    `interleaved` elements 2i and 2i + 1. All tensors are floats.

    (C1) `operand`, `cos`, `sin` and `result` have the same type.
    (C2) The last dim is an even number.

    ```mlir
    func.func @example(%x: tensor<4x16x8xf32>, %cos: tensor<4x16x8xf32>,
                       %sin: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
      %result = graph.rotary %x, %cos, %sin : tensor<4x16x8xf32>
      return %result : tensor<4x16x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Graph_FloatTensor:$cos, Graph_FloatTensor:$sin,
                       UnitAttr:$interleaved);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cos `,` $sin attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
