// The mesh dialect: ranks as a named n-d array, how tensors are laid out over them, and the collectives that change
// that. The plain-data form of the attributes is dialects/interfaces/Sharding.h.

#ifndef CLEAVE_MESH_OPS
#define CLEAVE_MESH_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mesh_Dialect : Dialect {
  let name = "mesh";
  let cppNamespace = "::cleave::mesh";
  let summary = "Devices as a named n-d mesh, layouts over it, and collectives";
  let description = [{
    Before partitioning its attributes say how ops and values of the graph dialect are to be cut: `mesh.mesh` on the
    module, `mesh.strategy` on ops, `mesh.sharding` on arguments and results of the step. After it, values are the blocks
    that one rank holds, and the ops here exchange them. One program serves all ranks: they execute the same ops in the
    same order, each on its own block.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

// -- attributes -------------------------------------------------------------------------------------------
class Mesh_Attr<string name, string mnemonic_> : AttrDef<Mesh_Dialect, name> {
  let mnemonic = mnemonic_;
  let hasCustomAssemblyFormat = 1;
}

def Mesh_MeshAttr : Mesh_Attr<"Mesh", "mesh"> {
  let summary = "The ranks as an n-d array with named axes, the first one major";
  let description = [{
    `#mesh.mesh<[dp = 2, tp = 4]>`: rank 5 has the coordinates dp 1, tp 1.
     (M1) every axis has at least one rank; (M2) the names differ.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes);
  let genVerifyDecl = 1;
}

def Mesh_ShardingAttr : Mesh_Attr<"Sharding", "sharding"> {
  let summary = "How a tensor is laid out: per dim the axes that split it, and the axes along which it is partial";
  let description =
    "`#mesh.sharding<[{dp}, {}], partial = sum {tp}>`: rows split over dp; along tp each rank holds a summand.\n"
    " (S1) an axis stands at most once.\n";
  let parameters = (ins "::mlir::ArrayAttr":$dims, "::mlir::ArrayAttr":$partial, "::cleave::ReduceKind":$reduce);
  let genVerifyDecl = 1;
}

def Mesh_StrategyAttr : Mesh_Attr<"Strategy", "strategy"> {
  let summary = "How an op is executed: per factor of its rule the axes that split it, and its results' layouts";
  let description =
    "`#mesh.strategy<[{dp}, {}, {tp}], results = [#mesh.sharding<[{dp}, {}]>]>`: factors in the order of the op's\n"
    "factor rule. The results that this gives are brought to the layouts stated. With `partial = {tp}` a linear op\n"
    "takes operands that are partial sums along tp and gives such results.\n"
    " (T1) an axis stands at most once in factors and partial together.\n";
  let parameters = (ins "::mlir::ArrayAttr":$factors, "::mlir::ArrayAttr":$partial, "::mlir::ArrayAttr":$results);
  let genVerifyDecl = 1;
}

// -- collectives ------------------------------------------------------------------------------------------
def Mesh_Tensor : RankedTensorOf<[AnyFloat, AnySignlessInteger, I1, UI8, UI16, UI32, UI64]>;

def Mesh_Reduction : I32EnumAttr<"Reduction", "how the ranks' values combine",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::cleave::mesh";
  let genSpecializedAttr = 0;
}
def Mesh_ReductionAttr : EnumAttr<Mesh_Dialect, Mesh_Reduction, "reduction">;

// An op of the ranks that differ only in the coordinates of `axes`; within such a group they are ordered by those
// coordinates, the first axis major.
class Mesh_Op<string mnemonic, list<Trait> traits = []> : Op<Mesh_Dialect, mnemonic, traits # [Pure]> {
  let hasVerifier = 1;
}

def Mesh_AllReduceOp : Mesh_Op<"all_reduce", [InferTypeOpAdaptor]> {
  let summary = "Every rank gets the group's values combined; several tensors at once are one bucket";
  let description = [{
     (C1) the axes belong to the mesh of the module, differ, and there is at least one;
     (C2) the operands have one element type, and there is at least one.
  }];
  let arguments = (ins Mesh_ReductionAttr:$kind, Variadic<Mesh_Tensor>:$operands, ArrayAttr:$axes);
  let results = (outs Variadic<Mesh_Tensor>:$results);
  let assemblyFormat = "$kind $operands `over` custom<Axes>($axes) attr-dict `:` type($operands)";
}

def Mesh_AllGatherOp : Mesh_Op<"all_gather"> {
  let summary = "The blocks of the group, one after the other along `dim`; what lies past the end is cut off";
  let description = [{
     (C1) as above; (C3) `dim` is a dim of the operand; (C4) operand and result differ at most in `dim`, and there the
     operand's size is that of the result divided by the ranks of the group, rounded up.
  }];
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$dim, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat =
    "$operand `dim` $dim `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Mesh_ReduceScatterOp : Mesh_Op<"reduce_scatter"> {
  let summary = "The group's values combined; every rank gets its block along `dim`, padded at the end";
  let description = [{
     (C1), (C3) as above; (C5) as (C4) with operand and result exchanged.
  }];
  let arguments = (ins Mesh_ReductionAttr:$kind, Mesh_Tensor:$operand, I64Attr:$dim, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat =
    "$kind $operand `dim` $dim `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Mesh_SliceOp : Mesh_Op<"slice"> {
  let summary = "This rank's block along `dim` of a tensor that all ranks of the group hold; no communication";
  let description = [{
    Where the dim is not a multiple of the ranks, the last blocks are padded; the padding's content is undefined.
     (C1), (C3), (C5) as above.
  }];
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$dim, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat =
    "$operand `dim` $dim `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Mesh_AllToAllOp : Mesh_Op<"all_to_all"> {
  let summary = "all_gather along `from` and slice along `to` in one exchange: the group's split moves between dims";
  let description = [{
     (C1) as above; (C6) `from` and `to` are different dims of the operand; (C4) holds for `from`, (C5) for `to`.
  }];
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$from, I64Attr:$to, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $operand `from` $from `to` $to `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)
  }];
}

def Mesh_BlockOffsetOp : Mesh_Op<"block_offset", [InferTypeOpAdaptor]> {
  let summary = "Where this rank's block begins: its position in the group times `block`";
  let description = "(C1) as above; (C7) `block` is positive.";
  let arguments = (ins ArrayAttr:$axes, I64Attr:$block);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "`over` custom<Axes>($axes) `block` $block attr-dict `:` type($result)";
}

#endif
