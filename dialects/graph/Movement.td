// Movement: the same elements at other places. Ops that cut or join act on one dim; several dims are several ops.

#ifndef CLEAVE_GRAPH_MOVEMENT
#define CLEAVE_GRAPH_MOVEMENT

include "dialects/graph/GraphBase.td"

class Graph_MovementOp<string mnemonic, list<Trait> traits = []> : Graph_PrimitiveOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
}

def Graph_ReshapeOp : Graph_MovementOp<"reshape"> {
  let summary = "The same row-major elements under another shape";
  let arguments = (ins Graph_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_MovementOp<"transpose", [InferTypeOpAdaptor]> {
  let summary = "Dim i of the result is dim permutation[i] of the operand";
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand `by` $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BroadcastOp : Graph_MovementOp<"broadcast"> {
  let summary = "Dim i of the operand is dim dims[i] of the result; along all others it is repeated";
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$operand `to` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_MovementOp<"slice"> {
  let summary = "Elements start, start + stride, … of one dim, as many as the result has";
  let description = "Until its symbols have values, `symbolic_start` is a polynomial to be added to `start`.";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, I64Attr:$start, I64Attr:$stride,
                       OptionalAttr<StrAttr>:$symbolic_start);
  let assemblyFormat = [{
    $operand `dim` $dim `from` $start `step` $stride attr-dict `:` type($operand) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand, "int64_t":$dim,
                                 "const ::cleave::Polynomial &":$start, "int64_t":$stride)>];
  let extraClassDeclaration = [{
    ::cleave::Polynomial startSize(); // start and symbolic_start together
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_PadOp : Graph_MovementOp<"pad"> {
  let summary = "One dim extended by `low` elements in front and more at the end, all `value`";
  let description = [{
    With `interior`, as many elements between any two neighbours: the gradient of a strided slice. Until its symbols
    have values, `symbolic_low` is a polynomial to be added to `low`.
  }];
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim, I64Attr:$low,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$interior,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value,
                       OptionalAttr<StrAttr>:$symbolic_low);
  let assemblyFormat = "$operand `dim` $dim `low` $low attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand, "int64_t":$dim,
                                 "const ::cleave::Polynomial &":$low, "int64_t":$interior, "double":$value)>];
  let extraClassDeclaration = [{
    ::cleave::Polynomial lowSize(); // low and symbolic_low together
  }];
  let hasVerifier = 1;
}

def Graph_ConcatOp : Graph_MovementOp<"concat", [InferTypeOpAdaptor]> {
  let summary = "Tensors one after the other along one dim";
  let arguments = (ins Variadic<Graph_Tensor>:$operands, I64Attr:$dim);
  let assemblyFormat = "$operands `dim` $dim attr-dict `:` type($operands) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ReverseOp : Graph_MovementOp<"reverse", [SameOperandsAndResultType]> {
  let summary = "One dim from back to front";
  let arguments = (ins Graph_Tensor:$operand, I64Attr:$dim);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($result)";
}

#endif
