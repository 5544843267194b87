// Structure: constants, sizes and indices, the accumulation over micro-batches, and kernel groups.

#ifndef CLEAVE_GRAPH_STRUCTURE
#define CLEAVE_GRAPH_STRUCTURE

include "dialects/graph/GraphBase.td"

def Graph_ConstantOp : Graph_PrimitiveOp<"constant", [
    ConstantLike, InferTypeOpAdaptor, Clonable], Graph_OwnPartition> {
  let summary = "Constant elements";
  let description = [{
    `result = value`. Any element type. Parameters are arguments of the step, not constants.

    (C1) `value` has the type of `result`.

    ```mlir
    func.func @example() -> tensor<2x2xf32> {
      %result = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      return %result : tensor<2x2xf32>
    }
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Graph_SizesOp : Graph_PrimitiveOp<"sizes", [StepDependent]> {
  let summary = "Numbers computed from symbolic dims";
  let description = [{
    Element i of `result` in row-major order is `values[i] / divisor`; both are polynomials of
    symbols, and a divisor less than 1 counts as 1. The op folds to a constant once all symbols have
    values (Symbols.h). Any element type.

    (C1) The shape of `result` is static and has as many elements as `values`.
    (C2) `divisor` is a polynomial.
    (C3) Each of `values` is a polynomial.

    ```mlir
    func.func @example() -> tensor<2xi64> {
      %result = graph.sizes ["batch", "2*batch"] : tensor<2xi64>
      return %result : tensor<2xi64>
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$values, DefaultValuedStrAttr<StrAttr, "1">:$divisor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$values attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_PrimitiveOp<"iota", [Clonable], Graph_OwnPartition> {
  let summary = "Indices along a dim";
  let description = [{
    `result[…, i, …] = i` along `dim`. Any element type.

    (C1) `dim` is a dim of `result`.

    ```mlir
    func.func @example() -> tensor<4x8xi64> {
      %result = graph.iota dim 1 : tensor<4x8xi64>
      return %result : tensor<4x8xi64>
    }
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_AccumulateOp : Graph_PrimitiveOp<"accumulate", [
    SameOperandsAndResultType, BufferSharing, StepDependent, GroupBoundary]> {
  let summary = "Sum of the operand over all micro-batches of a step";
  let description = [{
    `result` is the sum of `operand` over the `count` micro-batches of a step. Ops before it run
    once per micro-batch, ops after it once per step; all accumulate ops of a step have the same
    `count`. The reference evaluation handles a single micro-batch and returns the operand.
    Elements are floats.

    (C1) `operand` and `result` have the same type.
    (C2) `count` is at least 1.

    ```mlir
    func.func @example(%gradient: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.accumulate %gradient count 4 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, I64Attr:$count);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand `count` $count attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_FusionOp : Graph_Op<"fusion", [
    Graph_ClonedPartition, Pure, IsolatedFromAbove, SingleBlock, StridedResult, InPlaceResult,
    GroupBoundary,
    DeclareOpInterfaceMethods<ReferenceInterface>]> {
  let summary = "Kernel group: ops that run as one kernel";
  let description = [{
    The block arguments are the operands; the operands of graph.yield are the results. A kernel
    group has one factor rule, one strategy and one launch. Any element type.

    (C1) The block arguments have the types of the operands.
    (C2) The block ends with a graph.yield of the types of the results.
    (C3) The other ops of the block have a factor rule and are neither graph.fusion nor
         graph.accumulate.
    (C4) The ops of the block use no values defined outside of it.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %result = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4xf32>) {
        %0 = graph.exp %a : tensor<4x8xf32>
        %1 = graph.reduce sum %0 over [1] : tensor<4x8xf32> -> tensor<4xf32>
        graph.yield %1 : tensor<4xf32>
      }
      return %result : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, HasParent<"FusionOp">]> {
  let summary = "Terminator of a kernel group";
  let description = [{
    The operands are the results of the graph.fusion around it.

    (C1) The parent op is a graph.fusion.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.fusion (%a = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
        %0 = graph.exp %a : tensor<4x8xf32>
        graph.yield %0 : tensor<4x8xf32>
      }
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let assemblyFormat = "($operands^)? attr-dict (`:` type($operands)^)?";
}

#endif
