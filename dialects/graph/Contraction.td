// Contraction: sums of products (dot_general, grouped products, convolutions and their gradients),
// and pooling.

#ifndef CLEAVE_GRAPH_CONTRACTION
#define CLEAVE_GRAPH_CONTRACTION

include "dialects/graph/GraphBase.td"

def Graph_DotGeneralOp : Graph_PrimitiveOp<"dot_general", [
    InferTypeOpAdaptorWithIsCompatible, MatrixProduct, StridedResult, InPlaceResult]> {
  let summary = "Matrix product with batch and contracting dims";
  let description = [{
    `result[b…, m…, n…] = sum over k… of lhs[b…, m…, k…] * rhs[b…, n…, k…]`. Entry i of `lhs_batch`
    and entry i of `rhs_batch` name the same dim b, those of `lhs_contracting` and `rhs_contracting`
    the same dim k; m and n are the remaining dims of `lhs` and `rhs`. Dims may be in any order in
    the operands.

    (C1) `lhs` and `rhs` have the same element type.
    (C2) `lhs_batch` is as long as `rhs_batch`, `lhs_contracting` as long as `rhs_contracting`.
    (C3) Each entry is a dim of its operand.
    (C4) The two dims of a pair have the same size.
    (C5) No dim of an operand is named twice.
    (C6) `result` has the batch dims in the order of `lhs_batch`, then the remaining dims of `lhs`,
         then the remaining dims of `rhs`, and the element type of `lhs`, or f32 if that is a 16-bit
         float. 16-bit floats are summed in f32.

    ```mlir
    func.func @example(%x: tensor<2x4x8xf32>, %y: tensor<2x8x16xf32>) -> tensor<2x4x16xf32> {
      %result = graph.dot_general %x, %y batch [0] x [0] contract [2] x [1]
        : tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x4x16xf32>
      return %result : tensor<2x4x16xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch,
                       DenseI64ArrayAttr:$rhs_batch, DenseI64ArrayAttr:$lhs_contracting,
                       DenseI64ArrayAttr:$rhs_contracting);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `contract` $lhs_contracting `x` $rhs_contracting
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

// A product of groups of rows, whose ends are data.
class Graph_GroupedOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, traits # [
        AttrSizedOperandSegments, Pure, MatrixProduct, StridedResult, Graph_OwnPartition,
        DeclareOpInterfaceMethods<ReferenceInterface>,
        DeclareOpInterfaceMethods<DecompositionInterface, ["hasKernel", "hasGpuKernel"]>]> {
  // The operands and attributes of the groups and of a block of one rank.
  dag groups = (ins Graph_TensorOf<[I32, I64]>:$ends, Optional<Graph_Seed>:$first_row,
                    Optional<Graph_Seed>:$first_group, OptionalAttr<I64Attr>:$whole_rows);
  let results = (outs Graph_FloatTensor:$result);
  let hasVerifier = 1;
}

def Graph_GroupedMatmulOp : Graph_GroupedOp<"grouped_matmul", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "Rows times a matrix per group of rows";
  let description = [{
    `result[r, o] = sum over i of x[r, i] * weights[g, i, o]`, where g is the group of row r, and 0
    for a row of no group: the rows of group g are those from `ends[g - 1]` (0 for the first group)
    to before `ends[g]`. `x` is [rows, in], `weights` [groups, in, out], `ends` [groups] and
    `result` [rows, out]. If ends are not ascending, below 0 or above the number of rows, CPUs refuse
    them at run time, and all results of GPUs are NaN.

    An op on the block of one rank may have `first_row`, the index of its first row among all
    `whole_rows`, and `first_group`, the index of the first group of `weights` among those of
    `ends`. Groups beyond the last end have no rows.

    (C1) `x` is a matrix, `weights` has 3 dims and `ends` 1.
    (C2) `weights` has the inputs and the element type of `x`.
    (C3) `weights` has as many groups as `ends`, unless there is a `first_group`.
    (C4) `whole_rows` is present if and only if `first_row` is.
    (C5) `result` has the rows of `x`, the outputs of `weights`, and the element type of `x`, or f32
         if that is a 16-bit float. 16-bit floats are summed in f32.

    ```mlir
    func.func @example(%x: tensor<6x4xf32>, %w: tensor<3x4x8xf32>, %ends: tensor<3xi32>)
        -> tensor<6x8xf32> {
      %result = graph.grouped_matmul %x, %w, %ends
        : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
      return %result : tensor<6x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$x, Graph_FloatTensor:$weights), groups);
  let assemblyFormat = [{
    $x `,` $weights `,` $ends (`row` $first_row^)? (`group` $first_group^)? attr-dict
    `:` type($x) `,` type($weights) `,` type($ends) `->` type($result)
  }];
  let builders = [
    // An op on whole tensors.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weights, "::mlir::Value":$ends), [{
      build($_builder, $_state, x, weights, ends, ::mlir::Value(), ::mlir::Value(),
            ::mlir::IntegerAttr());
    }]>
  ];
}

def Graph_GroupedWeightGradOp : Graph_GroupedOp<"grouped_weight_grad"> {
  let summary = "Gradient of grouped_matmul with respect to its weights";
  let description = [{
    `result[g, i, o] = sum over the rows r of group g of x[r, i] * grad[r, o]`: the gradient of
    `weights` in graph.grouped_matmul, given `grad`, the gradient of its result. `x` is [rows, in],
    `grad` [rows, out], `ends` [groups] and `result` [groups, in, out], 0 for a group without rows.
    The groups, `first_row`, `first_group` and `whole_rows` are those of graph.grouped_matmul.

    (C1) `x` and `grad` are matrices, `result` has 3 dims and `ends` 1.
    (C2) `grad` has the rows and the element type of `x`.
    (C3) `result` has as many groups as `ends`, unless there is a `first_group`.
    (C4) `whole_rows` is present if and only if `first_row` is.
    (C5) `result` has the inputs of `x`, the outputs of `grad`, and the element type of `x`, or f32
         if that is a 16-bit float. 16-bit floats are summed in f32.

    ```mlir
    func.func @example(%x: tensor<6x4xf32>, %dy: tensor<6x8xf32>, %ends: tensor<3xi32>)
        -> tensor<3x4x8xf32> {
      %result = graph.grouped_weight_grad %x, %dy, %ends
        : tensor<6x4xf32>, tensor<6x8xf32>, tensor<3xi32> -> tensor<3x4x8xf32>
      return %result : tensor<3x4x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$x, Graph_FloatTensor:$grad), groups);
  let assemblyFormat = [{
    $x `,` $grad `,` $ends (`row` $first_row^)? (`group` $first_group^)? attr-dict
    `:` type($x) `,` type($grad) `,` type($ends) `->` type($result)
  }];
  let builders = [
    // An op on whole tensors.
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$x, "::mlir::Value":$grad,
                   "::mlir::Value":$ends), [{
      build($_builder, $_state, result, x, grad, ends, ::mlir::Value(), ::mlir::Value(),
            ::mlir::IntegerAttr());
    }]>
  ];
}

// The window of a convolution. Layouts: input and result [N, C, spatial…], weight [O, I, spatial…]
// with I = C / groups.
class Graph_ConvLikeOp<string mnemonic, list<Trait> traits = []>
    : Graph_PrimitiveOp<mnemonic, traits # [MatrixProduct]> {
  dag window = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                    DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high, I64Attr:$groups);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_ConvOp : Graph_ConvLikeOp<"conv", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "Convolution (cross-correlation)";
  let description = [{
    `result[n, o, s…] = sum over i, k… of weight[o, i, k…] *
    input[n, g * I + i, strides * s + dilations * k - pads_low]`, where g is the group of output
    channel o, and elements outside the input are 0. The tensors are floats: `input`
    [N, C, spatial…], `weight` [O, I, kernel…], `result` [N, O, spatial…].

    (C1) `input` and `weight` have the same rank, at least 3.
    (C2) `groups` is at least 1.
    (C3) `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial dim.
    (C4) C = `groups` * I.
    (C5) `result` has the element type of `input`, or f32 if that is a 16-bit float (such floats are
         summed in f32), and the shape [N, O, spatial…] with the sizes
         floor((input + pads_low + pads_high - dilations * (kernel - 1) - 1) / strides) + 1, or 0
         where the window is larger than the padded input.
    (C6) The kernel sizes of `weight` are numbers.
    (C7) `strides` and `dilations` are at least 1.
    (C8) O is a multiple of `groups`.
    (C9) `input` and `weight` have the same element type.

    ```mlir
    func.func @example(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x8xf32> {
      %result = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>,
                                   pads_low = array<i64: 1>, pads_high = array<i64: 1>,
                                   groups = 1 : i64}
        : tensor<2x3x8xf32>, tensor<4x3x3xf32> -> tensor<2x4x8xf32>
      return %result : tensor<2x4x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$input, Graph_FloatTensor:$weight), window);
  let assemblyFormat =
    "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ConvInputGradOp : Graph_ConvLikeOp<"conv_input_grad", [WindowGradient]> {
  let summary = "Gradient of conv with respect to its input";
  let description = [{
    The gradient of `input` in `graph.conv input, weight`, given `grad`, the gradient of its result.
    The attributes are those of the graph.conv; `grad` is [N, O, spatial…], `weight` [O, I, kernel…]
    and `result` [N, C, spatial…], floats.

    (C1) `result` and `weight` have the same rank, at least 3.
    (C2) `groups` is at least 1.
    (C3) `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial dim.
    (C4) `strides` and `dilations` are at least 1.
    (C5) C = `groups` * I.
    (C6) The kernel sizes of `weight` are numbers.
    (C7) O is a multiple of `groups`.
    (C8) `grad` and `weight` have the same element type, and `result` has it or, if it is a 16-bit
         float, f32.
    (C9) `grad` has the shape of the result of graph.conv of `result` and `weight`, or, as in a
         transposed convolution with output padding, smaller spatial sizes.

    ```mlir
    func.func @example(%dy: tensor<2x4x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x3x8xf32> {
      %result = graph.conv_input_grad %dy, %w {
          strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>,
          pads_high = array<i64: 1>, groups = 1 : i64}
        : tensor<2x4x8xf32>, tensor<4x3x3xf32> -> tensor<2x3x8xf32>
      return %result : tensor<2x3x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$weight), window);
  let assemblyFormat =
    "$grad `,` $weight attr-dict `:` type($grad) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ConvWeightGradOp : Graph_ConvLikeOp<"conv_weight_grad", [WindowGradient]> {
  let summary = "Gradient of conv with respect to its weight";
  let description = [{
    The gradient of `weight` in `graph.conv input, weight`, given `grad`, the gradient of its
    result. The attributes are those of the graph.conv; `grad` is [N, O, spatial…], `input`
    [N, C, spatial…] and `result` [O, I, kernel…], floats.

    (C1) `input` and `result` have the same rank, at least 3.
    (C2) `groups` is at least 1.
    (C3) `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial dim.
    (C4) `strides` and `dilations` are at least 1.
    (C5) C = `groups` * I.
    (C6) The kernel sizes of `result` are numbers.
    (C7) O is a multiple of `groups`.
    (C8) `grad` and `input` have the same element type, and `result` has it or, if it is a 16-bit
         float, f32.
    (C9) `grad` has the shape of the result of graph.conv of `input` and `result`, or smaller
         spatial sizes.

    ```mlir
    func.func @example(%dy: tensor<2x4x8xf32>, %x: tensor<2x3x8xf32>) -> tensor<4x3x3xf32> {
      %result = graph.conv_weight_grad %dy, %x {
          strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>,
          pads_high = array<i64: 1>, groups = 1 : i64}
        : tensor<2x4x8xf32>, tensor<2x3x8xf32> -> tensor<4x3x3xf32>
      return %result : tensor<4x3x3xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$input), window);
  let assemblyFormat =
    "$grad `,` $input attr-dict `:` type($grad) `,` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_PoolKind : I32EnumAttr<"PoolKind", "reduction of the elements of a window",
    [I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_PoolKindAttr : EnumAttr<Graph_Dialect, Graph_PoolKind, "pool_kind">;

class Graph_PoolLikeOp<string mnemonic, list<Trait> traits = []>
    : Graph_PrimitiveOp<mnemonic, traits # [OwnKernel]> {
  dag window = (ins Graph_PoolKindAttr:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_low,
                    DenseI64ArrayAttr:$pads_high, UnitAttr:$count_padding);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_PoolOp : Graph_PoolLikeOp<"pool", [InferTypeOpAdaptor]> {
  let summary = "Maximum or average pooling";
  let description = [{
    `result[n, c, s…]` is the maximum or average of `input[n, c, strides * s + dilations * k -
    pads_low]` over the positions k of the kernel. Input and result are floats [N, C, spatial…].
    Positions outside the input are skipped. An average divides by the number of positions inside
    the input, or with `count_padding` by the number of those inside the padded input.

    (C1) `kernel`, `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial
         dim.
    (C2) `result` has the type of `input` except for the spatial sizes, which are those of
         graph.conv.
    (C3) `input` has at least 3 dims.
    (C4) `strides` and `dilations` are at least 1.

    ```mlir
    func.func @example(%x: tensor<2x3x8xf32>) -> tensor<2x3x4xf32> {
      %result = graph.pool max %x {
          kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
          pads_low = array<i64: 0>, pads_high = array<i64: 0>}
        : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
      return %result : tensor<2x3x4xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$input), window);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_PoolGradOp : Graph_PoolLikeOp<"pool_grad", [WindowGradient]> {
  let summary = "Gradient of pool with respect to its input";
  let description = [{
    The gradient of `input` in `graph.pool kind input`, given `grad`, the gradient of its result.
    The attributes are those of the graph.pool. The gradient of a maximum goes to the first largest
    element of the window in row-major order. All tensors are floats [N, C, spatial…].

    (C1) `input` has at least 3 dims.
    (C2) `kernel`, `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial
         dim.
    (C3) `strides` and `dilations` are at least 1.
    (C4) `grad` has the type of the result of the graph.pool.
    (C5) `result` has the type of `input`.

    ```mlir
    func.func @example(%dy: tensor<2x3x4xf32>, %x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
      %result = graph.pool_grad max %dy, %x {
          kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
          pads_low = array<i64: 0>, pads_high = array<i64: 0>}
        : tensor<2x3x4xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
      return %result : tensor<2x3x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$input), window);
  let assemblyFormat =
    "$kind $grad `,` $input attr-dict `:` type($grad) `,` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif
