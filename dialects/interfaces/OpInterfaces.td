// What an op of the graph dialect answers: its factor rule, cost, reference evaluation, decomposition and how it is
// cut for one rank. The answers stand in the op's family file; the algorithms that ask them exist once.

#ifndef CLEAVE_OP_INTERFACES
#define CLEAVE_OP_INTERFACES

include "mlir/IR/OpBase.td"

def FactorRuleInterface : OpInterface<"FactorRuleInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "How results depend on operands, as an einsum-like rule (FactorRule.h).";
  let methods = [InterfaceMethod<"The rule, with sizes.", "::cleave::FactorRule", "getFactorRule">];
}

def CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "What the op costs wherever it runs; bytes follow from its types.";
  let methods = [
    InterfaceMethod<"Floating-point operations of the whole op (a multiply-add counts 2).",
                    "::cleave::Polynomial", "getFlops">
  ];
}

def ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "What the op means, as plain loops over whole tensors.";
  let methods = [
    InterfaceMethod<"One tensor per result.", "::llvm::SmallVector<::cleave::Tensor>", "evaluate",
                    (ins "::llvm::ArrayRef<::cleave::Tensor>":$operands)>
  ];
}

def PointwiseInterface : OpInterface<"PointwiseInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "An op that computes every element of its result from the same element of its operands.";
  let methods = [
    InterfaceMethod<"One element, in double precision.", "double", "evaluateScalar",
                    (ins "::llvm::ArrayRef<double>":$x)>,
    InterfaceMethod<"One element, as arith and math ops.", "::mlir::Value", "buildScalar",
                    (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc, "::mlir::ValueRange":$x)>,
    InterfaceMethod<"FLOPs per element.", "int64_t", "getFlopsPerElement", (ins), "", "return 1;">,
    InterfaceMethod<"Linear in all operands together (see FactorRule::linear).", "bool", "isLinear",
                    (ins), "", "return false;">
  ];
}

def DecompositionInterface : OpInterface<"DecompositionInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = "A composite op: the same computation by simpler ops.";
  let methods = [
    InterfaceMethod<"Builds the simpler ops at the builder's point; one value per result.",
                    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$b)>
  ];
}

def DropoutInterface : OpInterface<"DropoutInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = [{
    An op that drops elements at random where a step trains. It draws for the seed that the training step gives it;
    without one it drops nothing, and is equal to no other op.
  }];
  let methods = [
    InterfaceMethod<"With what probability an element is dropped; 0: the op drops none.", "double", "getDropRate">,
    InterfaceMethod<"A scalar i64, or null.", "::mlir::Value", "getSeed", (ins), [{ return $_op.getSeed(); }]>,
    InterfaceMethod<"Gives the op its seed.", "void", "setSeed", (ins "::mlir::Value":$seed),
                    [{ $_op.getSeedMutable().assign(seed); }]>
  ];
}

def PartitionInterface : OpInterface<"PartitionInterface"> {
  let cppNamespace = "::cleave::graph";
  let description = [{
    Building the op for one rank's blocks. `blockOffset(factor)` is a scalar i64 tensor: where this rank's
    block begins in the factor (null when the factor is not split). Attributes never speak of the size of a
    splittable dim, so that most ops are simply cloned.
  }];
  let methods = [
    InterfaceMethod<"One value per result.", "::llvm::SmallVector<::mlir::Value>", "partition",
      (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$operands, "::mlir::TypeRange":$resultTypes,
           "::llvm::function_ref<::mlir::Value(unsigned)>":$blockOffset), "", [{
        return ::cleave::graph::cloneWith(b, $_op.getOperation(), operands, resultTypes);
      }]>
  ];
}

#endif
