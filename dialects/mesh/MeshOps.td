// The mesh dialect: ranks as a named n-d array, layouts of tensors over them, and the collectives
// that change layouts. The plain-data form of the attributes is dialects/interfaces/Sharding.h.

#ifndef CLEAVE_MESH_OPS
#define CLEAVE_MESH_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/OpInterfaces.td"

def Mesh_Dialect : Dialect {
  let name = "mesh";
  let cppNamespace = "::cleave::mesh";
  let summary = "Devices as a named n-d mesh, layouts over it, and collectives";
  let description = [{
    Before partitioning, the attributes describe how ops and values of the graph dialect are split:
    `mesh.mesh` on the module, `mesh.strategy` on ops, `mesh.sharding` on arguments and results of
    the step. After partitioning, values are the blocks of one rank, and the ops of this dialect
    exchange them. All ranks execute the same ops in the same order, each on its own blocks.

    An op acts within groups: the ranks of a group differ only in their coordinates along `axes`,
    and are ordered by those coordinates, the first axis major. The block of a rank has ceil(size /
    ranks of the group) elements along the split dim; the last blocks are padded, and the content of
    the padding is undefined. The constraints are numbered for the whole dialect. Tensors have any
    element type of the graph dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

// -- attributes -----------------------------------------------------------------------------------
class Mesh_Attr<string name, string mnemonic_> : AttrDef<Mesh_Dialect, name> {
  let mnemonic = mnemonic_;
  let hasCustomAssemblyFormat = 1;
}

def Mesh_MeshAttr : Mesh_Attr<"Mesh", "mesh"> {
  let summary = "ranks as an n-d array with named axes, the first axis major";
  let description = [{
    Example: in `#mesh.mesh<[dp = 2, tp = 4]>`, rank 5 has the coordinates dp = 1, tp = 1.

    (M1) Each axis has at least one rank.
    (M2) The names of the axes differ.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes);
  let genVerifyDecl = 1;
}

def Mesh_ShardingAttr : Mesh_Attr<"Sharding", "sharding"> {
  let summary = "layout of a tensor: the axes that split each dim, and the axes of partial values";
  let description =
    "    Example: with `#mesh.sharding<[{dp}, {}], partial = sum {tp}>`, dim 0 is split over dp,\n"
    "    and the ranks along tp each hold a summand of the tensor.\n\n"
    "    (S1) An axis occurs at most once.\n";
  let parameters = (ins "::mlir::ArrayAttr":$dims, "::mlir::ArrayAttr":$partial,
                        "::cleave::ReduceKind":$reduce);
  let genVerifyDecl = 1;
}

def Mesh_StrategyAttr : Mesh_Attr<"Strategy", "strategy"> {
  let summary = "execution of an op: the axes that split each factor, and the layouts of results";
  let description =
    "    Example: `#mesh.strategy<[{dp}, {}, {tp}], results = [#mesh.sharding<[{dp}, {}]>]>`.\n"
    "    Factors are in the order of the op's factor rule. Collectives convert the results to the\n"
    "    layouts in `results`. With `partial = {tp}`, operands and results of a linear op are\n"
    "    partial sums along tp.\n\n"
    "    (T1) An axis occurs at most once in factors and `partial` together.\n"
    "    (T2) The entries of `results` are `#mesh.sharding` attributes.\n";
  let parameters = (ins "::mlir::ArrayAttr":$factors, "::mlir::ArrayAttr":$partial,
                        "::mlir::ArrayAttr":$results);
  let genVerifyDecl = 1;
}

// -- collectives ----------------------------------------------------------------------------------
def Mesh_Tensor : RankedTensorOf<[Cleave_Float, Cleave_Integer]>;

def Mesh_Reduction : I32EnumAttr<"Reduction", "reduction of the values of ranks",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
     I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::cleave::mesh";
  let genSpecializedAttr = 0;
}
def Mesh_ReductionAttr : EnumAttr<Mesh_Dialect, Mesh_Reduction, "reduction">;

// The description of an op with one result: text, constraints, and an example that computes it by
// `statement` from `arguments`.
class Mesh_Text<string text_, string constraints, string arguments, string statement,
                string result> {
  string text = "\n    " # text_ # "\n\n" # constraints # "\n    ```mlir\n"
    "    module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} {\n"
    "      func.func @example(" # arguments # ") -> " # result # " {\n"
    "        %result = " # statement # "\n        return %result : " # result # "\n"
    "      }\n    }\n    ```\n";
}

// Constraints shared by several ops.
defvar Mesh_C1 =
  "    (C1) `axes` are axes of the module's mesh, differ, and there is at least one.\n";
defvar Mesh_C3 = "    (C3) `dim` is a dim of `operand`.\n";
defvar Mesh_C4 = "    (C4) `operand` is a block of `result` along `dim`.\n";
defvar Mesh_C5 = "    (C5) `result` is a block of `operand` along `dim`.\n";

// An op within the groups of ranks along `axes`.
class Mesh_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mesh_Dialect, mnemonic, traits # [Pure]> {
  let hasVerifier = 1;
}

def Mesh_AllReduceOp : Mesh_Op<"all_reduce", [InferTypeOpAdaptor, InPlaceResult]> {
  let summary = "Sum, maximum or minimum over the ranks of a group";
  let description = Mesh_Text<
    "`results[i]` on each rank is the sum, maximum or minimum of `operands[i]` over the group. "
    "Several operands are one bucket: a single exchange.",
    Mesh_C1 #
    "    (C2) There is at least one operand, and all operands have the same element type.\n"
    "    (C8) Each result has the type of its operand.\n",
    "%x: tensor<4x8xf32>", "mesh.all_reduce sum %x over {tp} : tensor<4x8xf32>",
    "tensor<4x8xf32>">.text;
  let arguments = (ins Mesh_ReductionAttr:$kind, Variadic<Mesh_Tensor>:$operands, ArrayAttr:$axes);
  let results = (outs Variadic<Mesh_Tensor>:$results);
  let assemblyFormat = "$kind $operands `over` custom<Axes>($axes) attr-dict `:` type($operands)";
}

def Mesh_AllGatherOp : Mesh_Op<"all_gather", [InPlaceResult]> {
  let summary = "Concatenation of the blocks of a group";
  let description = Mesh_Text<
    "`result` on each rank is the concatenation along `dim` of the blocks of the group, without "
    "the padding at the end.",
    !strconcat(Mesh_C1, Mesh_C3, Mesh_C4),
    "%x: tensor<2x8xf32>",
    "mesh.all_gather %x dim 0 over {tp} : tensor<2x8xf32> -> tensor<7x8xf32>",
    "tensor<7x8xf32>">.text;
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$dim, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $operand `dim` $dim `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)
  }];
}

def Mesh_ReduceScatterOp : Mesh_Op<"reduce_scatter", [InPlaceResult]> {
  let summary = "One block per rank of the sum, maximum or minimum over a group";
  let description = Mesh_Text<
    "`result` is this rank's block along `dim` of the sum, maximum or minimum of `operand` over "
    "the group.",
    !strconcat(Mesh_C1, Mesh_C3, Mesh_C5),
    "%x: tensor<8x8xf32>",
    "mesh.reduce_scatter sum %x dim 0 over {tp} : tensor<8x8xf32> -> tensor<2x8xf32>",
    "tensor<2x8xf32>">.text;
  let arguments = (ins Mesh_ReductionAttr:$kind, Mesh_Tensor:$operand, I64Attr:$dim,
                       ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $kind $operand `dim` $dim `over` custom<Axes>($axes) attr-dict
    `:` type($operand) `->` type($result)
  }];
}

def Mesh_SliceOp : Mesh_Op<"slice", [TableLookup]> {
  let summary = "This rank's block of a replicated tensor";
  let description = Mesh_Text<
    "`result` is this rank's block along `dim` of `operand`, which is the same on all ranks of the "
    "group. There is no communication.",
    !strconcat(Mesh_C1, Mesh_C3, Mesh_C5),
    "%x: tensor<7x8xf32>",
    "mesh.slice %x dim 0 over {tp} : tensor<7x8xf32> -> tensor<2x8xf32>",
    "tensor<2x8xf32>">.text;
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$dim, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $operand `dim` $dim `over` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)
  }];
}

def Mesh_AllToAllOp : Mesh_Op<"all_to_all"> {
  let summary = "Exchange that moves the split of a group from one dim to another";
  let description = Mesh_Text<
    "`result` is that of mesh.all_gather along `from` followed by mesh.slice along `to`, in a "
    "single exchange.",
    Mesh_C1 #
    "    (C3) `from` and `to` are dims of `operand`.\n"
    "    (C6) `from` and `to` differ.\n"
    "    (C9) `operand` and `result` have the same rank.\n"
    "    (C4) `operand` is a block along `from` of the whole tensor.\n"
    "    (C5) `result` is a block along `to` of the whole tensor.\n",
    "%x: tensor<2x8xf32>",
    "mesh.all_to_all %x from 0 to 1 over {tp} : tensor<2x8xf32> -> tensor<7x2xf32>",
    "tensor<7x2xf32>">.text;
  let arguments = (ins Mesh_Tensor:$operand, I64Attr:$from, I64Attr:$to, ArrayAttr:$axes);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $operand `from` $from `to` $to `over` custom<Axes>($axes) attr-dict
    `:` type($operand) `->` type($result)
  }];
}

def Mesh_PermuteOp : Mesh_Op<"permute", [SameOperandsAndResultType]> {
  let summary = "Exchange of whole blocks between the ranks of a group";
  let description = Mesh_Text<
    "`result` is `operand` of the rank whose position along `axes` is the position of this rank "
    "along `toAxes`; with `reversed`, that position counted from the last rank of the group.",
    Mesh_C1 #
    "    (C11) `toAxes` holds the axes of `axes`, in any order.\n"
    "    (C8) `result` has the type of `operand`.\n",
    "%x: tensor<2x8xf32>",
    "mesh.permute %x over {dp, tp} to {tp, dp} : tensor<2x8xf32>", "tensor<2x8xf32>">.text;
  let arguments = (ins Mesh_Tensor:$operand, ArrayAttr:$axes, ArrayAttr:$toAxes,
                       UnitAttr:$reversed);
  let results = (outs Mesh_Tensor:$result);
  let assemblyFormat = [{
    $operand `over` custom<Axes>($axes) `to` custom<Axes>($toAxes) (`reversed` $reversed^)? attr-dict
    `:` type($operand)
  }];
}

def Mesh_BlockOffsetOp : Mesh_Op<"block_offset", [InferTypeOpAdaptor]> {
  let summary = "Index of the first element of this rank's block";
  let description = Mesh_Text<
    "`result = position * block`, where position is that of this rank in its group.",
    Mesh_C1 #
    "    (C7) `block` is at least 1.\n"
    "    (C10) `result` is a scalar i64.\n",
    "", "mesh.block_offset over {tp} block 2 : tensor<i64>", "tensor<i64>">.text;
  let arguments = (ins ArrayAttr:$axes, I64Attr:$block);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "`over` custom<Axes>($axes) `block` $block attr-dict `:` type($result)";
}

#endif
