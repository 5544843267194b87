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
  int flopsPerElement = 1; // of functions: the additions that take as long
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

class Graph_UnaryOp<string mnemonic, string formula, string mlirOp, int flops = 1>
    : Graph_PointwiseOp<mnemonic, formula, "return " # mlirOp # "::create(b, loc, x[0]);",
                        [SameOperandsAndResultType]> {
  let flopsPerElement = flops;
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

// A binary op that is one MLIR op for floats, another one for signed and a third for unsigned integers.
class Graph_ArithOp<string mnemonic, string formula, string floatOp, string signedOp, string unsignedOp>
    : Graph_BinaryOp<mnemonic, formula,
        "return isFloat(x[0]) ? ::mlir::Value(::mlir::arith::" # floatOp # "::create(b, loc, x[0], x[1]))"
        " : isUnsigned(getType()) ? ::mlir::Value(::mlir::arith::" # unsignedOp # "::create(b, loc, x[0], x[1]))"
        " : ::mlir::Value(::mlir::arith::" # signedOp # "::create(b, loc, x[0], x[1]));">;

// Truth values, or integers bit by bit.
class Graph_BitwiseOp<string mnemonic, string formula, string build>
    : Graph_PointwiseOp<mnemonic, formula, build, [SameOperandsAndResultType]> {
  let arguments = (ins Graph_IntTensor:$lhs, Graph_IntTensor:$rhs);
  let results = (outs Graph_IntTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
class Graph_LogicalOp<string mnemonic, string formula, string mlirOp>
    : Graph_BitwiseOp<mnemonic, formula, "return ::mlir::arith::" # mlirOp # "::create(b, loc, x[0], x[1]);">;

// A unary op of floats and integers.
class Graph_SignedOp<string mnemonic, string formula, string floatOp, string build>
    : Graph_PointwiseOp<mnemonic, formula,
        "if (isFloat(x[0])) return ::mlir::" # floatOp # "::create(b, loc, x[0]);" # build,
        [SameOperandsAndResultType]> {
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// -- one operand ------------------------------------------------------------------------------------------
let linear = 1 in
def Graph_NegOp : Graph_SignedOp<"neg", "-x[0]", "arith::NegFOp", [{
    auto zero = ::mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(x[0].getType(), 0));
    return ::mlir::arith::SubIOp::create(b, loc, zero, x[0]);
  }]>;
def Graph_AbsOp : Graph_SignedOp<"abs", "std::fabs(x[0])", "math::AbsFOp", [{
    if (isUnsigned(getType())) return x[0];
    return ::mlir::math::AbsIOp::create(b, loc, x[0]);
  }]>;
def Graph_ExpOp     : Graph_UnaryOp<"exp", "std::exp(x[0])", "::mlir::math::ExpOp", 40>;
def Graph_LogOp     : Graph_UnaryOp<"log", "std::log(x[0])", "::mlir::math::LogOp", 50>;
def Graph_Expm1Op   : Graph_UnaryOp<"expm1", "std::expm1(x[0])", "::mlir::math::ExpM1Op", 50>;
def Graph_Log1pOp   : Graph_UnaryOp<"log1p", "std::log1p(x[0])", "::mlir::math::Log1pOp", 55>;
def Graph_SqrtOp    : Graph_UnaryOp<"sqrt", "std::sqrt(x[0])", "::mlir::math::SqrtOp", 8>;
def Graph_RsqrtOp   : Graph_UnaryOp<"rsqrt", "1 / std::sqrt(x[0])", "::mlir::math::RsqrtOp", 8>;
def Graph_SinOp     : Graph_UnaryOp<"sin", "std::sin(x[0])", "::mlir::math::SinOp", 55>;
def Graph_CosOp     : Graph_UnaryOp<"cos", "std::cos(x[0])", "::mlir::math::CosOp", 55>;
def Graph_TanhOp    : Graph_UnaryOp<"tanh", "std::tanh(x[0])", "::mlir::math::TanhOp", 60>;
def Graph_AtanOp    : Graph_UnaryOp<"atan", "std::atan(x[0])", "::mlir::math::AtanOp", 60>;
def Graph_ErfOp     : Graph_UnaryOp<"erf", "std::erf(x[0])", "::mlir::math::ErfOp", 72>;
def Graph_FloorOp   : Graph_UnaryOp<"floor", "std::floor(x[0])", "::mlir::math::FloorOp">;
def Graph_CeilOp    : Graph_UnaryOp<"ceil", "std::ceil(x[0])", "::mlir::math::CeilOp">;
def Graph_RoundOp   : Graph_UnaryOp<"round", "std::nearbyint(x[0])", "::mlir::math::RoundEvenOp">;

def Graph_NotOp : Graph_PointwiseOp<"not", "elementTypeOf(getType()).isInteger(1) ? x[0] == 0 : -1 - x[0]", [{
    auto ones = ::mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(x[0].getType(), -1));
    return ::mlir::arith::XOrIOp::create(b, loc, x[0], ones);
  }], [SameOperandsAndResultType]> {
  let summary = "The other truth value, or all bits of an integer the other way round";
  let arguments = (ins Graph_IntTensor:$operand);
  let results = (outs Graph_IntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_CastOp : Graph_PointwiseOp<"cast", "x[0]", "return buildCast(b, loc, x[0], elementTypeOf(getOperand()), elementTypeOf(getResult()));",
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
def Graph_AddOp : Graph_ArithOp<"add", "x[0] + x[1]", "AddFOp", "AddIOp", "AddIOp">;
def Graph_SubOp : Graph_ArithOp<"sub", "x[0] - x[1]", "SubFOp", "SubIOp", "SubIOp">;
}
def Graph_MulOp : Graph_ArithOp<"mul", "x[0] * x[1]", "MulFOp", "MulIOp", "MulIOp">;
def Graph_MaxOp : Graph_ArithOp<"max", "maximum(x[0], x[1])", "MaximumFOp", "MaxSIOp", "MaxUIOp">;
def Graph_MinOp : Graph_ArithOp<"min", "minimum(x[0], x[1])", "MinimumFOp", "MinSIOp", "MinUIOp">;
let flopsPerElement = 4 in
def Graph_DivOp : Graph_BinaryOp<"div", "divide(getType(), x[0], x[1])",
    "return buildDivision(b, loc, x[0], x[1], isUnsigned(getType()), /*remainder=*/false);"> {
  let summary = "The quotient; of integers towards zero, and 0 where the divisor is 0";
}
def Graph_RemOp : Graph_BinaryOp<"rem", "remainder(getType(), x[0], x[1])",
    "return buildDivision(b, loc, x[0], x[1], isUnsigned(getType()), /*remainder=*/true);"> {
  let summary = "What division towards zero leaves, with the sign of the dividend; 0 where an integer divisor is 0";
}
let flopsPerElement = 110 in
def Graph_PowOp : Graph_BinaryOp<"pow", "std::pow(x[0], x[1])",
    "return ::mlir::math::PowFOp::create(b, loc, x[0], x[1]);">;
def Graph_AndOp : Graph_LogicalOp<"and", "fromBits(toBits(x[0]) & toBits(x[1]), getType())", "AndIOp">;
def Graph_OrOp  : Graph_LogicalOp<"or", "fromBits(toBits(x[0]) | toBits(x[1]), getType())", "OrIOp">;
def Graph_XorOp : Graph_LogicalOp<"xor", "fromBits(toBits(x[0]) ^ toBits(x[1]), getType())", "XOrIOp">;
def Graph_ShiftLeftOp : Graph_BitwiseOp<"shift_left", "shiftLeft(getType(), x[0], x[1])",
    "return buildShift(b, loc, x[0], x[1], isUnsigned(getType()), /*left=*/true);"> {
  let summary = "Bits moved to higher places; 0 if moved by the width or more";
}
def Graph_ShiftRightOp : Graph_BitwiseOp<"shift_right", "shiftRight(x[0], x[1])",
    "return buildShift(b, loc, x[0], x[1], isUnsigned(getType()), /*left=*/false);"> {
  let summary = "The number over a power of two, rounded down";
}

def Graph_RandomOp : Graph_PointwiseOp<"random", "randomNumber(x[0], x[1])",
    "return buildRandomNumber(b, loc, x[0], x[1]);", [SameOperandsAndResultShape, AllTypesMatch<["counter", "key"]>]> {
  let summary = "A random number in [0, 1), the same for the same counter and key";
  let description = [{
    Every element is a hash of its two operands, so that who computes it, and in which order, changes nothing: N ranks
    draw what one rank draws. Counters are positions in the whole tensor, keys tell draws apart.
  }];
  let flopsPerElement = 10;
  let arguments = (ins TensorOf<[I64]>:$counter, TensorOf<[I64]>:$key);
  let results = (outs TensorOf<[F32]>:$result);
  let assemblyFormat = "$counter `,` $key attr-dict `:` type($counter) `->` type($result)";
}

def Graph_Predicate : I32EnumAttr<"Predicate", "a comparison",
    [I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
     I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_PredicateAttr : EnumAttr<Graph_Dialect, Graph_Predicate, "predicate">;

def Graph_CompareOp : Graph_PointwiseOp<"compare", "compareScalars(getPredicate(), x[0], x[1])",
    "return buildCompare(b, loc, getPredicate(), x[0], x[1], isUnsigned(getLhs().getType()));",
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

def Graph_DropoutOp : Graph_DroppingOp<"dropout", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "The operand as it is; where a step trains, a part `rate` of its elements zero and the rest larger";
  let description = [{
    The place of a dropout in a forward graph. A training step gives it a seed: the result is then the operand times
    factors that are 0 with probability `rate` and 1 / (1 - rate) otherwise. The factor of an element follows from the seed and
    from its row-major position in the whole tensor (graph.random), so that the same seed drops the same elements of the
    operand's gradient, and of a tensor of another shape in the same order.
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Optional<Graph_Seed>:$seed, Graph_DropRate:$rate);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand (`seed` $seed^)? attr-dict `:` type($result)";
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
def Graph_QuickGeluOp : Graph_UnaryCompositeOp<"quick_gelu"> { let summary = "x * sigmoid(1.702 x)"; }

#endif
