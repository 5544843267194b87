// Elementwise: every element of the result from the same element of the operands.
// A new op is one line here, a gradient (passes/autodiff/rules/Elementwise.cpp) and the operators of the model
// formats that mean it.

#ifndef CLEAVE_GRAPH_ELEMENTWISE
#define CLEAVE_GRAPH_ELEMENTWISE

include "dialects/graph/GraphBase.td"

// `formula` computes one element from x[0], x[1], … in double precision; `build` the same as MLIR ops.
class Graph_PointwiseOp<string mnemonic, string formula, string build, list<Trait> traits>
    : Graph_PrimitiveOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<PointwiseInterface, ["getFlopsPerElement", "isLinear"]>]> {
  string scalar = formula; // for the reference
  int flopsPerElement = 1;
  bit linear = 0;
  let extraClassDefinition = [{
    double $cppClass::evaluateScalar(::llvm::ArrayRef<double> x) { return }] # formula # [{; }
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &b, ::mlir::Location loc, ::mlir::ValueRange x) {
      }] # build # [{
    }
    int64_t $cppClass::getFlopsPerElement() { return }] # !cast<string>(flopsPerElement) # [{; }
    bool $cppClass::isLinear() { return }] # !if(linear, "true", "false") # [{; }
    ::cleave::FactorRule $cppClass::getFactorRule() { return pointwiseRule(*this); }
    ::cleave::Polynomial $cppClass::getFlops() { return pointwiseFlops(*this); }
    ::llvm::SmallVector<::cleave::Tensor> $cppClass::evaluate(::llvm::ArrayRef<::cleave::Tensor> operands) {
      return evaluatePointwise(*this, operands);
    }
  }];
}

class Graph_UnaryOp<string mnemonic, string formula, string mlirOp>
    : Graph_PointwiseOp<mnemonic, formula, "return " # mlirOp # "::create(b, loc, x[0]);",
                        [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Graph_BinaryOp<string mnemonic, string formula, string build>
    : Graph_PointwiseOp<mnemonic, formula, build, [SameOperandsAndResultType]> {
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

// A binary op that is one MLIR op for floats and another one for integers.
class Graph_ArithOp<string mnemonic, string formula, string floatOp, string intOp>
    : Graph_BinaryOp<mnemonic, formula,
        "return isFloat(x[0]) ? ::mlir::Value(::mlir::arith::" # floatOp # "::create(b, loc, x[0], x[1]))"
        " : ::mlir::Value(::mlir::arith::" # intOp # "::create(b, loc, x[0], x[1]));">;

class Graph_LogicalOp<string mnemonic, string formula, string mlirOp>
    : Graph_PointwiseOp<mnemonic, formula,
        "return ::mlir::arith::" # mlirOp # "::create(b, loc, x[0], x[1]);", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_BoolTensor:$lhs, Graph_BoolTensor:$rhs);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

// -- one operand ------------------------------------------------------------------------------------------
let linear = 1 in
def Graph_NegOp     : Graph_UnaryOp<"neg", "-x[0]", "::mlir::arith::NegFOp">;
def Graph_AbsOp     : Graph_UnaryOp<"abs", "std::fabs(x[0])", "::mlir::math::AbsFOp">;
def Graph_ExpOp     : Graph_UnaryOp<"exp", "std::exp(x[0])", "::mlir::math::ExpOp">;
def Graph_LogOp     : Graph_UnaryOp<"log", "std::log(x[0])", "::mlir::math::LogOp">;
def Graph_SqrtOp    : Graph_UnaryOp<"sqrt", "std::sqrt(x[0])", "::mlir::math::SqrtOp">;
def Graph_RsqrtOp   : Graph_UnaryOp<"rsqrt", "1 / std::sqrt(x[0])", "::mlir::math::RsqrtOp">;
def Graph_SinOp     : Graph_UnaryOp<"sin", "std::sin(x[0])", "::mlir::math::SinOp">;
def Graph_CosOp     : Graph_UnaryOp<"cos", "std::cos(x[0])", "::mlir::math::CosOp">;
def Graph_TanhOp    : Graph_UnaryOp<"tanh", "std::tanh(x[0])", "::mlir::math::TanhOp">;
def Graph_AtanOp    : Graph_UnaryOp<"atan", "std::atan(x[0])", "::mlir::math::AtanOp">;
def Graph_ErfOp     : Graph_UnaryOp<"erf", "std::erf(x[0])", "::mlir::math::ErfOp">;
def Graph_FloorOp   : Graph_UnaryOp<"floor", "std::floor(x[0])", "::mlir::math::FloorOp">;
def Graph_CeilOp    : Graph_UnaryOp<"ceil", "std::ceil(x[0])", "::mlir::math::CeilOp">;
def Graph_RoundOp   : Graph_UnaryOp<"round", "std::nearbyint(x[0])", "::mlir::math::RoundEvenOp">;

def Graph_NotOp : Graph_PointwiseOp<"not", "x[0] == 0", [{
    auto one = ::mlir::arith::ConstantIntOp::create(b, loc, 1, 1);
    return ::mlir::arith::XOrIOp::create(b, loc, x[0], one);
  }], [SameOperandsAndResultType]> {
  let arguments = (ins Graph_BoolTensor:$operand);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_CastOp : Graph_PointwiseOp<"cast", "x[0]", "return buildCast(b, loc, x[0], elementTypeOf(getResult()));",
                                     [SameOperandsAndResultShape]> {
  let summary = "The same numbers in another element type (floats to integers: towards zero)";
  let flopsPerElement = 0;
  let linear = 0;
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

// -- two operands -----------------------------------------------------------------------------------------
let linear = 1 in {
def Graph_AddOp : Graph_ArithOp<"add", "x[0] + x[1]", "AddFOp", "AddIOp">;
def Graph_SubOp : Graph_ArithOp<"sub", "x[0] - x[1]", "SubFOp", "SubIOp">;
}
def Graph_MulOp : Graph_ArithOp<"mul", "x[0] * x[1]", "MulFOp", "MulIOp">;
def Graph_DivOp : Graph_ArithOp<"div", "x[0] / x[1]", "DivFOp", "DivSIOp">;
def Graph_MaxOp : Graph_ArithOp<"max", "maximum(x[0], x[1])", "MaximumFOp", "MaxSIOp">;
def Graph_MinOp : Graph_ArithOp<"min", "minimum(x[0], x[1])", "MinimumFOp", "MinSIOp">;
def Graph_RemOp : Graph_ArithOp<"rem", "std::fmod(x[0], x[1])", "RemFOp", "RemSIOp">;
def Graph_PowOp : Graph_BinaryOp<"pow", "std::pow(x[0], x[1])",
    "return ::mlir::math::PowFOp::create(b, loc, x[0], x[1]);">;
def Graph_AndOp : Graph_LogicalOp<"and", "x[0] != 0 && x[1] != 0", "AndIOp">;
def Graph_OrOp  : Graph_LogicalOp<"or", "x[0] != 0 || x[1] != 0", "OrIOp">;
def Graph_XorOp : Graph_LogicalOp<"xor", "(x[0] != 0) != (x[1] != 0)", "XOrIOp">;

def Graph_Predicate : I32EnumAttr<"Predicate", "a comparison",
    [I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
     I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_PredicateAttr : EnumAttr<Graph_Dialect, Graph_Predicate, "predicate">;

def Graph_CompareOp : Graph_PointwiseOp<"compare", "compareScalars(getPredicate(), x[0], x[1])",
    "return buildCompare(b, loc, getPredicate(), x[0], x[1]);",
    [SameTypeOperands, SameOperandsAndResultShape, InferTypeOpAdaptor]> {
  let summary = "Ordered comparison; false where an operand is NaN, except for ne";
  let arguments = (ins Graph_PredicateAttr:$predicate, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Graph_SelectOp : Graph_PointwiseOp<"select", "x[0] != 0 ? x[1] : x[2]",
    "return ::mlir::arith::SelectOp::create(b, loc, x[0], x[1], x[2]);",
    [AllTypesMatch<["on_true", "on_false", "result"]>, SameOperandsAndResultShape]> {
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
}

// -- composites -------------------------------------------------------------------------------------------
class Graph_UnaryCompositeOp<string mnemonic> : Graph_CompositeOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_ReluOp : Graph_UnaryCompositeOp<"relu"> { let summary = "max(x, 0)"; }
def Graph_SigmoidOp : Graph_UnaryCompositeOp<"sigmoid"> { let summary = "1 / (1 + exp(-x))"; }
def Graph_SiluOp : Graph_UnaryCompositeOp<"silu"> { let summary = "x * sigmoid(x)"; }
def Graph_GeluOp : Graph_UnaryCompositeOp<"gelu"> {
  let summary = "x times the normal distribution function of x";
  let description = "By erf, or with `tanh` by 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).";
  let arguments = (ins Graph_FloatTensor:$operand, UnitAttr:$tanh);
}

#endif
