// Attention: scaled dot-product attention, its gradient, and rotary position embedding. Exporters
// write attention and rotary as many simple ops; the simplification passes recognise them.

#ifndef CLEAVE_GRAPH_ATTENTION
#define CLEAVE_GRAPH_ATTENTION

include "dialects/graph/GraphBase.td"

def Graph_AttentionOp
    : Graph_DroppingOp<"attention", [
        AttrSizedOperandSegments, InferTypeOpAdaptor, MatrixProduct, StridedResult]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    For each head, with the scores [batch…, heads, queries, keys] and their weights as intermediate
    tensors:

    * `score = visible ? scale * query keyᵀ + bias : fill`
    * `weight = softmax(score)` over the keys
    * `result = drop(weight) value`
    * `lse = log Σ exp(score)` over the keys

    The shapes, all of floats except `mask`:

    * query [batch…, heads, queries, width]
    * key [batch…, groups, keys, width], value [batch…, groups, keys, depth]
    * bias and mask (booleans) [batch…, heads, queries, keys]; a dim of size 1 is repeated
    * result [batch…, heads, queries, depth], lse [batch…, heads, queries]

    `heads / groups` neighbouring heads of the query share one head of key and value. A key is
    visible to a query where `mask` is true and, with `causal`, where its index is at most that of
    the query. `fill` is minus infinity if absent. With `safe`, NaN weights (a query with no visible
    key and an infinite `fill`) become 0. Scores, weights and `lse` are computed in f32, or f64 for
    f64 values.

    `lse` tells graph.attention_grad the weights, `exp(score - lse)`, and has three special values:
    minus infinity for a query with no visible key and a finite `fill`, whose weights are all
    1 / keys; plus infinity where `safe` has made all weights of a query 0; NaN where the weights
    are NaN.

    `dropout` is the rate of a graph.dropout with `seed` on the weights: `drop` multiplies the
    element at a row-major position of the weights by 0 or 1 / (1 - dropout). Without a seed it
    drops nothing.

    An op on the block of one rank has `offsets`: the index of its first row in dim `offset_dims[i]`
    of the scores is `offsets[i]`, and 0 in other dims. `whole` is the shape of the whole scores.
    Causality and the positions of dropout are those in the whole scores.

    (C1) `query`, `key` and `value` have the same rank, at least 3.
    (C2) `query`, `key` and `value` have the same element type and the same batch dims, `key` and
         `value` the same groups and keys, `query` and `key` the same width.
    (C3) `heads` equals `groups`, or both are numbers and `heads` is a multiple of `groups`.
    (C4) Each dim of `bias` and `mask` is that of the scores [batch…, heads, queries, keys] or 1.
    (C5) If `seed` is present, so is `dropout`.
    (C6) `dropout` is between 0 and 1.
    (C7) `result` has the shape of `query` with the last dim of `value`, and the element type of
         `value`.
    (C8) `lse` has the shape of `query` without the last dim; it is f64 for f64 values, else f32.
    (C9) `offset_dims` has one dim of [batch…, heads, queries] per operand of `offsets`, ascending.
    (C10) If there are `offsets`, `whole` has one size per dim of the scores; else it is absent.

    ```mlir
    func.func @example(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>,
                       %v: tensor<2x2x16x8xf32>) -> tensor<2x4x16x8xf32> {
      %result, %lse = graph.attention %q, %k, %v {causal, scale = 0.35 : f64}
        : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>)
        -> (tensor<2x4x16x8xf32>, tensor<2x4x16xf32>)
      return %result : tensor<2x4x16x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key, Graph_FloatTensor:$value,
                       Optional<Graph_FloatTensor>:$bias, Optional<Graph_BoolTensor>:$mask,
                       Optional<Graph_Seed>:$seed, Variadic<Graph_Seed>:$offsets, F64Attr:$scale,
                       UnitAttr:$causal, UnitAttr:$safe, OptionalAttr<F64Attr>:$fill,
                       OptionalAttr<Graph_DropRate>:$dropout,
                       OptionalAttr<DenseI64ArrayAttr>:$offset_dims,
                       OptionalAttr<DenseI64ArrayAttr>:$whole);
  let results = (outs Graph_FloatTensor:$result, Graph_FloatTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? (`seed` $seed^)?
    (`at` $offsets^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let builders = [
    // An op on whole tensors. A null value or attribute is absent.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                   "::mlir::Value":$bias, "::mlir::Value":$mask, "::mlir::Value":$seed,
                   "::mlir::FloatAttr":$scale, "::mlir::UnitAttr":$causal, "::mlir::UnitAttr":$safe,
                   "::mlir::FloatAttr":$fill, "::mlir::FloatAttr":$dropout), [{
      build($_builder, $_state, query, key, value, bias, mask, seed, ::mlir::ValueRange(), scale,
            causal, safe, fill, dropout, ::mlir::DenseI64ArrayAttr(), ::mlir::DenseI64ArrayAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    // The number of neighbouring heads of the query that share one head of key and value.
    int64_t headsPerGroup();
    // The score of a key that is not visible to a query: `fill`, or minus infinity.
    double fillValue();
    // See DecompositionInterface and PartitionInterface.
    bool hasKernel();
    ::llvm::SmallVector<::mlir::Value> partition(
        ::mlir::OpBuilder &b, ::mlir::ValueRange operands, ::mlir::TypeRange resultTypes,
        ::llvm::function_ref<::mlir::Value(unsigned)> blockOffset);
  }];
}

def Graph_AttentionGradOp
    : Graph_CompositeOp<"attention_grad", [
        AttrSizedOperandSegments, MatrixProduct, StridedResult]> {
  let summary = "Gradient of attention";
  let description = [{
    The gradients of `query`, `key`, `value` and, with a fourth result, of `bias` in graph.attention
    with the same operands and attributes, given its results `result` and `lse`, and `grad`, the
    gradient of `result`. With the scores of that op:

    * `weight = exp(score - lse)`; 1 / keys where `lse` is minus infinity, and 0 where it is plus
      infinity
    * `delta = Σ grad * result` over the depth
    * `dscore = visible ? weight * (drop(grad valueᵀ) - delta) : 0`
    * `query_grad = scale * dscore key`
    * `key_grad = scale * dscoreᵀ query`, summed over the heads of a group
    * `value_grad = drop(weight)ᵀ grad`, summed over the heads of a group
    * `bias_grad = dscore`, summed over the dims in which `bias` has size 1

    All are computed in f32, or f64 for f64 values, and rounded to the types of the results.
    `offsets`, `offset_dims` and `whole` are as in graph.attention; on a block of rows `key_grad`,
    `value_grad` and `bias_grad` are partial sums.

    (C1) `query`, `key` and `value` have the same rank, at least 3.
    (C2) `query`, `key` and `value` have the same element type and the same batch dims, `key` and
         `value` the same groups and keys, `query` and `key` the same width.
    (C3) `heads` equals `groups`, or both are numbers and `heads` is a multiple of `groups`.
    (C4) Each dim of `bias` and `mask` is that of the scores [batch…, heads, queries, keys] or 1.
    (C5) `seed` and `dropout` are both present or both absent.
    (C6) `dropout` is between 0 and 1.
    (C7) `result` and `grad` have the shape of `query` with the last dim of `value`, and the element
         type of `value`.
    (C8) `lse` has the shape of `query` without the last dim; it is f64 for f64 values, else f32.
    (C9) `offset_dims` has one dim of [batch…, heads, queries] per operand of `offsets`, ascending.
    (C10) If there are `offsets`, `whole` has one size per dim of the scores; else it is absent.
    (C11) `query_grad`, `key_grad`, `value_grad` and `bias_grad` have the types of `query`, `key`,
          `value` and `bias`.

    ```mlir
    func.func @example(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>,
                       %v: tensor<2x2x16x8xf32>, %dy: tensor<2x4x16x8xf32>)
        -> tensor<2x4x16x8xf32> {
      %y, %lse = graph.attention %q, %k, %v {causal, scale = 0.35 : f64}
        : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>)
        -> (tensor<2x4x16x8xf32>, tensor<2x4x16xf32>)
      %dq, %dk, %dv = graph.attention_grad %q, %k, %v, %y, %lse, %dy {causal, scale = 0.35 : f64}
        : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x4x16x8xf32>,
           tensor<2x4x16xf32>, tensor<2x4x16x8xf32>)
        -> (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>)
      return %dq : tensor<2x4x16x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key, Graph_FloatTensor:$value,
                       Graph_FloatTensor:$result, Graph_FloatTensor:$lse, Graph_FloatTensor:$grad,
                       Optional<Graph_FloatTensor>:$bias, Optional<Graph_BoolTensor>:$mask,
                       Optional<Graph_Seed>:$seed, Variadic<Graph_Seed>:$offsets, F64Attr:$scale,
                       UnitAttr:$causal, OptionalAttr<F64Attr>:$fill,
                       OptionalAttr<Graph_DropRate>:$dropout,
                       OptionalAttr<DenseI64ArrayAttr>:$offset_dims,
                       OptionalAttr<DenseI64ArrayAttr>:$whole);
  let results = (outs Graph_FloatTensor:$query_grad, Graph_FloatTensor:$key_grad,
                      Graph_FloatTensor:$value_grad, Optional<Graph_FloatTensor>:$bias_grad);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $result `,` $lse `,` $grad (`bias` $bias^)? (`mask` $mask^)?
    (`seed` $seed^)? (`at` $offsets^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // As of graph.attention.
    int64_t headsPerGroup();
    double fillValue();
    // The rate of dropout; 0 if there is none.
    double getDropRate();
    // See DecompositionInterface and PartitionInterface.
    bool hasKernel();
    ::llvm::SmallVector<::mlir::Value> partition(
        ::mlir::OpBuilder &b, ::mlir::ValueRange operands, ::mlir::TypeRange resultTypes,
        ::llvm::function_ref<::mlir::Value(unsigned)> blockOffset);
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
