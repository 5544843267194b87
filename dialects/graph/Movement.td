// Movement: ops that copy elements to other positions. Slice, pad, concat and reverse act on one
// dim; several dims take several ops.

#ifndef CLEAVE_GRAPH_MOVEMENT
#define CLEAVE_GRAPH_MOVEMENT

include "dialects/graph/GraphBase.td"

class Graph_MovementOp<string mnemonic, list<Trait> traits = []>
    : Graph_PrimitiveOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
}

def Graph_ReshapeOp : Graph_MovementOp<"reshape", [
    LayoutOnly, DimRearrangement, UnaryCopy, ElementCopy, BufferSharing, Clonable]> {
  let summary = "The same elements in row-major order in another shape";
  let description = [{
    Element i of `result` in row-major order is element i of `operand`. Any element type.

    (C1) `operand` and `result` have the same number of elements.
    (C2) `operand` and `result` have the same element type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<2x2x8xf32> {
      %result = graph.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
      return %result : tensor<2x2x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_MovementOp<"transpose", [
    InferTypeOpAdaptor, LayoutOnly, DimRearrangement, UnaryCopy, ElementCopy]> {
  let summary = "Permutation of dims";
  let description = [{
    Dim i of `result` is dim `permutation[i]` of `operand`. Any element type.

    (C1) `permutation` is a permutation of the dims of `operand`.
    (C2) `result` has the dims of `operand` in this order, and its element type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
      %result = graph.transpose %x by [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
      return %result : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand `by` $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BroadcastOp : Graph_MovementOp<"broadcast", [UnaryCopy, ElementCopy, Clonable]> {
  let summary = "Repetition along new dims";
  let description = [{
    Dim i of `operand` is dim `dims[i]` of `result`; along all other dims of `result` the operand is
    repeated. Any element type.

    (C1) `dims` has one entry per dim of `operand`.
    (C2) `operand` and `result` have the same element type.
    (C3) The entries of `dims` differ and are dims of `result`.
    (C4) Dim `dims[i]` of `result` has the size of dim i of `operand`.

    ```mlir
    func.func @example(%x: tensor<8xf32>) -> tensor<4x8xf32> {
      %result = graph.broadcast %x to [1] : tensor<8xf32> -> tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$operand `to` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_MovementOp<"slice", [LayoutOnly, UnaryCopy, ElementCopy]> {
  let summary = "A strided part of one dim";
  let description = [{
    `result[…, i, …] = operand[…, start + i * stride, …]` along `dim`. `symbolic_start`, a
    polynomial of symbols, is added to `start` until its symbols have values. Any element type.

    (C1) `symbolic_start` is a polynomial.
    (C2) `stride` is at least 1, and the start is not negative.
    (C3) `dim` is a dim of `operand`, and `operand` and `result` have the same rank, element type
         and sizes of all other dims.
    (C4) The last element read, start + (size of `dim` in `result` - 1) * stride, exists.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
      %result = graph.slice %x dim 1 from 1 step 2 : tensor<4x8xf32> -> tensor<4x3xf32>
      return %result : tensor<4x3xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, I64Attr:$start, I64Attr:$stride,
                       OptionalAttr<StrAttr>:$symbolic_start);
  let assemblyFormat = [{
    $operand `dim` $dim `from` $start `step` $stride attr-dict `:` type($operand) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand, "int64_t":$dim,
                                 "const ::cleave::Polynomial &":$start, "int64_t":$stride)>];
  let extraClassDeclaration = [{
    ::cleave::Polynomial startSize(); // start + symbolic_start
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_PadOp : Graph_MovementOp<"pad"> {
  let summary = "Padding of one dim with a value";
  let description = [{
    `result[…, low + i * (interior + 1), …] = operand[…, i, …]` along `dim`; all other elements of
    `result` are `value`. The size of `result` determines the padding at the end. `symbolic_low`, a
    polynomial of symbols, is added to `low` until its symbols have values. With `interior`, the op
    is the gradient of a strided slice. Any element type.

    (C1) `symbolic_low` is a polynomial.
    (C2) `low` and `interior` are not negative.
    (C3) `dim` is a dim of `operand`, and `operand` and `result` have the same rank, element type
         and sizes of all other dims.
    (C4) `dim` of `result` has room for the elements of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x10xf32> {
      %result = graph.pad %x dim 1 low 1 : tensor<4x8xf32> -> tensor<4x10xf32>
      return %result : tensor<4x10xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, I64Attr:$low,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$interior,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value,
                       OptionalAttr<StrAttr>:$symbolic_low);
  let assemblyFormat =
    "$operand `dim` $dim `low` $low attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand, "int64_t":$dim,
                                 "const ::cleave::Polynomial &":$low, "int64_t":$interior,
                                 "double":$value)>];
  let extraClassDeclaration = [{
    ::cleave::Polynomial lowSize(); // low + symbolic_low
  }];
  let hasVerifier = 1;
}

def Graph_ConcatOp : Graph_MovementOp<"concat", [InferTypeOpAdaptor, ElementCopy, StridedResult]> {
  let summary = "Concatenation along a dim";
  let description = [{
    `result` has the elements of each operand along `dim`, one operand after the other. Any element
    type.

    (C1) `dim` is a dim of `result`, and each operand has the rank and element type of `result` and
         the sizes of all its other dims.
    (C2) The sizes of `dim` in the operands add up to that in `result`.
    (C3) There is at least one operand.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> tensor<6x8xf32> {
      %result = graph.concat %x, %y dim 0 : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
      return %result : tensor<6x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands, I64Attr:$dim);
  let assemblyFormat = "$operands `dim` $dim attr-dict `:` type($operands) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ReverseOp : Graph_MovementOp<"reverse", [
    SameOperandsAndResultType, LayoutOnly, UnaryCopy, ElementCopy]> {
  let summary = "Reversal of one dim";
  let description = [{
    `result[…, i, …] = operand[…, size - 1 - i, …]` along `dim`. Any element type.

    (C1) `operand` and `result` have the same type.
    (C2) `dim` is a dim of `operand`.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.reverse %x dim 1 : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
