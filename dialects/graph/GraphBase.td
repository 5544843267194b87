// The graph dialect, its base classes and what its op families share.

#ifndef CLEAVE_GRAPH_BASE
#define CLEAVE_GRAPH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/OpInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::cleave::graph";
  let summary = "One training step on whole, logical tensors";
  let description = [{
    Values are tensors of the whole computation; nothing here knows of devices. Dims are numbers or
    polynomials of named symbols (`#graph.dims`). All broadcasting is explicit. Ops come in families, one
    `.td` and `.cpp` each; every op answers the interfaces of OpInterfaces.td.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class Graph_Attr<string name, string mnemonic_> : AttrDef<Graph_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Graph_DimsAttr : Graph_Attr<"Dims", "dims"> {
  let summary = "The encoding of a tensor type with symbolic dims";
  let description = [{
    One polynomial per dim, as text; empty for a dim whose size the type states:
    `tensor<?x16xf32, #graph.dims<["batch", ""]>>`.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$dims);
  let assemblyFormat = "`<` $dims `>`";
  let genVerifyDecl = 1;
}

// Any tensor of numbers or truth values.
def Graph_Tensor : TensorOf<[AnyFloat, AnySignlessInteger, I1, UI8, UI16, UI32, UI64]>;
def Graph_FloatTensor : TensorOf<[AnyFloat]>;
def Graph_IntTensor : TensorOf<[AnySignlessInteger, UI8, UI16, UI32, UI64]>;
def Graph_BoolTensor : TensorOf<[I1]>;

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits # [
        DeclareOpInterfaceMethods<FactorRuleInterface>, DeclareOpInterfaceMethods<CostInterface>]>;

// How an op is cut for one rank: by cloning, or by a method of its own.
def Graph_ClonedPartition : DeclareOpInterfaceMethods<PartitionInterface>;
def Graph_OwnPartition : DeclareOpInterfaceMethods<PartitionInterface, ["partition"]>;

// A primitive op: evaluated by plain loops.
class Graph_PrimitiveOp<string mnemonic, list<Trait> traits = [], Trait partition = Graph_ClonedPartition>
    : Graph_Op<mnemonic, traits # [partition, Pure, DeclareOpInterfaceMethods<ReferenceInterface>]>;

// A composite op: evaluated through its decomposition as well as directly.
class Graph_CompositeOp<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : Graph_Op<mnemonic, traits # effects # [Graph_ClonedPartition, DeclareOpInterfaceMethods<ReferenceInterface>,
                                             DeclareOpInterfaceMethods<DecompositionInterface>]>;

// A composite op that can drop elements. What has no seed yet counts as allocating its result: it is erased where nobody
// uses it, and never merged with an op that looks the same.
class Graph_DroppingOp<string mnemonic, list<Trait> traits>
    : Graph_CompositeOp<mnemonic, traits, [DeclareOpInterfaceMethods<DropoutInterface>,
                                           DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;
def Graph_Seed : 0DTensorOf<[I64]>, BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;
def Graph_DropRate : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() >= 0 && "
          "::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() <= 1">, "between 0 and 1">]>;

def Graph_ReduceKind : I32EnumAttr<"Reduction", "how elements combine",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
     I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_ReduceKindAttr : EnumAttr<Graph_Dialect, Graph_ReduceKind, "reduction">;

#endif
