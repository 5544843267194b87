// The graph dialect: its attributes, and the types and base classes of its op families.
//
// Each op has a summary and a description with: its meaning, the constraints that its verifier
// checks as lines "(C1) …", and one example in a ```mlir block, a complete function. The ctest
// op-examples runs all examples, and requires a negative test per constraint under test/lit.
// Constraints are those beyond the element types of the operands.

#ifndef CLEAVE_GRAPH_BASE
#define CLEAVE_GRAPH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/OpInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::cleave::graph";
  let summary = "One training step on whole, logical tensors";
  let description = [{
    Values are tensors of the whole computation, independent of devices. Dims are numbers or
    polynomials of named symbols (`#graph.dims`). All broadcasting is explicit. Ops are grouped in
    families, one `.td` file each; every op implements the interfaces of OpInterfaces.td.

    "Types" in constraints include shape, element type and symbolic dims. A "float" is f64, f32, f16
    or bf16; a "boolean" is i1; an "integer" is i8 to i64 (signed) or ui8 to ui64 (unsigned).
    Arithmetic on 16-bit floats is done in f32 and rounded to the element type; kernels of groups
    round only what they store, and where a graph.cast says so.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    // Register the ops of one family. They are defined in its .cpp, which also compiles the
    // generated definitions of its ops.
    void addAttentionOps();
    void addContractionOps();
    void addElementwiseOps();
    void addIndexingOps();
    void addLossOps();
    void addMovementOps();
    void addNormalizationOps();
    void addReductionOps();
    void addSequenceOps();
    void addStructureOps();
    void addStopGradientOps();
    void addTransferOps();
  }];
}

// The example of an op with one result: a function that computes it by `statement`.
class Graph_Example<string arguments, string statement, string result> {
  string text = "    ```mlir\n    func.func @example(" # arguments # ") -> " # result # " {\n"
    "      %result = " # statement # "\n      return %result : " # result # "\n    }\n    ```\n";
}

class Graph_Attr<string name, string mnemonic_> : AttrDef<Graph_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Graph_DimsAttr : Graph_Attr<"Dims", "dims"> {
  let summary = "encoding of a tensor type with symbolic dims";
  let description = [{
    A string per dim: the polynomial of a symbolic dim, or empty for a dim whose size is part of the
    type. Example: `tensor<?x16xf32, #graph.dims<["batch", ""]>>`.

    (D1) Each entry is empty or a polynomial of symbols.
    (D2) There is one entry per dim of the tensor type, a polynomial for each symbolic dim.
  }];
  let traits = [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>];
  let parameters = (ins "::mlir::ArrayAttr":$dims);
  let assemblyFormat = "`<` $dims `>`";
  let genVerifyDecl = 1;
}

// A ranked tensor. A dim without a number is symbolic: it has a polynomial in #graph.dims.
class Graph_TensorOf<list<Type> elements> : ShapedContainerType<elements,
    And<[IsRankedTensorTypePred, CPred<"::cleave::graph::hasKnownDims($_self)">]>,
    "ranked tensor with static or symbolic dims", "::mlir::TensorType">;

// Tensors of floats, integers and booleans; of one of the three.
def Graph_Tensor : Graph_TensorOf<[Cleave_Float, Cleave_Integer]>;
def Graph_FloatTensor : Graph_TensorOf<[Cleave_Float]>;
def Graph_IntTensor : Graph_TensorOf<[Cleave_Integer]>;
def Graph_BoolTensor : Graph_TensorOf<[I1]>;

// The operands and results have the same dims, symbolic ones included. Element types may differ.
def Graph_SameDims : NativeOpTrait<"SameDims"> {
  let cppNamespace = "::cleave::graph";
}

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits # [
        DeclareOpInterfaceMethods<FactorRuleInterface>, DeclareOpInterfaceMethods<CostInterface>]>;

// How an op is partitioned for one rank: by cloning, or by a method of its own.
def Graph_ClonedPartition : DeclareOpInterfaceMethods<PartitionInterface>;
def Graph_OwnPartition : DeclareOpInterfaceMethods<PartitionInterface, ["partition"]>;

// A primitive op: its reference evaluation is its definition.
class Graph_PrimitiveOp<string mnemonic, list<Trait> traits = [],
                        Trait partition = Graph_ClonedPartition>
    : Graph_Op<mnemonic, traits # [partition, Pure, DeclareOpInterfaceMethods<ReferenceInterface>]>;

// A composite op: it has a decomposition into simpler ops besides its reference evaluation.
class Graph_CompositeOp<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : Graph_Op<mnemonic, traits # effects # [
        Graph_ClonedPartition, DeclareOpInterfaceMethods<ReferenceInterface>,
        DeclareOpInterfaceMethods<DecompositionInterface>]>;

// A composite op that drops elements at random. Without a seed it has the memory effect of
// allocating its result: it is erased if it has no uses, and never merged with an equal op.
class Graph_DroppingOp<string mnemonic, list<Trait> traits>
    : Graph_CompositeOp<mnemonic, traits, [DeclareOpInterfaceMethods<DropoutInterface>,
                                           DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;
def Graph_Seed : 0DTensorOf<[I64]>,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;
def Graph_DropRate : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() >= 0 && "
          "::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble() <= 1">, "between 0 and 1">]>;

def Graph_ReduceKind : I32EnumAttr<"Reduction", "reduction of elements",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
     I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_ReduceKindAttr : EnumAttr<Graph_Dialect, Graph_ReduceKind, "reduction">;

#endif
