// The interfaces of the ops of the graph dialect: factor rule, cost, reference evaluation,
// decomposition, partitioning for one rank. Each family's .cpp file implements them for its ops;
// algorithms call them and contain no lists of ops. Also the element types of tensors.

#ifndef CLEAVE_OP_INTERFACES
#define CLEAVE_OP_INTERFACES

include "mlir/IR/OpBase.td"

def FactorRuleInterface : OpInterface<"FactorRuleInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "The dependence of results on operands as an einsum-like rule (FactorRule.h).";
  let methods = [InterfaceMethod<"The rule, with sizes.", "::cleave::FactorRule", "getFactorRule">];
}

def CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "The cost of the op on any device; its bytes follow from its types.";
  let methods = [
    InterfaceMethod<"FLOPs of the op on whole tensors; a multiply-add counts as 2.",
                    "::cleave::Polynomial", "getFlops">
  ];
}

def ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "The definition of the op as plain loops over whole tensors.";
  let methods = [
    InterfaceMethod<"One tensor per result.", "::llvm::SmallVector<::cleave::Tensor>", "evaluate",
                    (ins "::llvm::ArrayRef<::cleave::Tensor>":$operands)>
  ];
}

def PointwiseInterface : OpInterface<"PointwiseInterface"> {
  let cppNamespace = "::cleave::graph";
  let description =
    "An op that computes each element of its result from the same element of its operands.";
  let methods = [
    InterfaceMethod<"Computes one element in double precision.", "double", "evaluateScalar",
                    (ins "::llvm::ArrayRef<double>":$x)>,
    InterfaceMethod<"Builds arith and math ops that compute one element.", "::mlir::Value",
                    "buildScalar", (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc,
                                        "::mlir::ValueRange":$x)>,
    InterfaceMethod<"FLOPs per element.", "int64_t", "getFlopsPerElement", (ins), "", "return 1;">,
    InterfaceMethod<"Whether the op is linear in all operands together (FactorRule::linear).",
                    "bool", "isLinear", (ins), "", "return false;">
  ];
}

def DecompositionInterface : OpInterface<"DecompositionInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "A composite op, which can be replaced by simpler ops.";
  let methods = [
    InterfaceMethod<"Builds the simpler ops; returns one value per result.",
                    "::llvm::SmallVector<::mlir::Value>", "decompose",
                    (ins "::mlir::OpBuilder &":$b)>,
    InterfaceMethod<"Whether programs have one kernel for this op with its types and operands. The "
                    "decomposition phase keeps such an op whole.",
                    "bool", "hasKernel", (ins), "", "return false;">,
    InterfaceMethod<"The same for programs of GPUs.", "bool", "hasGpuKernel", (ins), "",
                    "return $_op.hasKernel();">
  ];
}

def DropoutInterface : OpInterface<"DropoutInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = [{
    An op that drops elements at random in training. The training step adds its seed; without a seed
    it drops nothing, and common subexpression elimination does not merge it with an equal op.
  }];
  let methods = [
    InterfaceMethod<"The probability that an element is dropped; 0 if the op drops none.", "double",
                    "getDropRate">,
    InterfaceMethod<"The seed, a scalar i64, or null.", "::mlir::Value", "getSeed", (ins),
                    [{ return $_op.getSeed(); }]>,
    InterfaceMethod<"Sets the seed, a scalar i64.", "void", "setSeed", (ins "::mlir::Value":$seed),
                    [{ $_op.getSeedMutable().assign(seed); }]>
  ];
}

def PartitionInterface : OpInterface<"PartitionInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = [{
    Builds the op on the blocks of one rank. Attributes do not depend on the size of a dim that can
    be split, so the default, a clone with other types, is right for most ops. `blockOffset(factor)`
    is a scalar i64 tensor, the index in the factor of the first element of the rank's block, or
    null if the factor is not split.
  }];
  let methods = [
    InterfaceMethod<"Builds the op for this rank; returns one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "partition",
      (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes,
           "::llvm::function_ref<::mlir::Value(unsigned)>":$blockOffset), "", [{
        return ::cleave::graph::cloneWith(b, $_op.getOperation(), operands, resultTypes);
      }]>
  ];
}

// The element types of tensors. MLIR has more, for example i4 and f8E4M3FN.
def Cleave_Float : AnyTypeOf<[F64, F32, F16, BF16], "f64, f32, f16 or bf16">;
def Cleave_Integer : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64],
                               "i1, i8 to i64 or ui8 to ui64">;

// Traits: facts without a method, documented in OpInterfaces.h.
class CleaveTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::cleave::graph";
}

def LayoutOnly : CleaveTrait<"LayoutOnly">;
def DimRearrangement : CleaveTrait<"DimRearrangement">;
def UnaryCopy : CleaveTrait<"UnaryCopy">;
def ElementCopy : CleaveTrait<"ElementCopy">;
def BufferSharing : CleaveTrait<"BufferSharing">;
def TableLookup : CleaveTrait<"TableLookup">;
def MatrixProduct : CleaveTrait<"MatrixProduct">;
def Normalization : CleaveTrait<"Normalization">;
def WindowGradient : CleaveTrait<"WindowGradient">;
def WidePrecision : CleaveTrait<"WidePrecision">;
def NarrowResult : CleaveTrait<"NarrowResult">;
def StepDependent : CleaveTrait<"StepDependent">;
def ComputeOp : CleaveTrait<"ComputeOp">;
def Clonable : CleaveTrait<"Clonable">;
def GroupBoundary : CleaveTrait<"GroupBoundary">;
def OwnKernel : CleaveTrait<"OwnKernel">;
def StridedResult : CleaveTrait<"StridedResult">;
def InPlaceResult : CleaveTrait<"InPlaceResult">;

#endif
