// Elementwise: each element of the result is computed from the same element of the operands.
// A new op is one line here, a gradient (passes/autodiff/rules/Elementwise.cpp), and an entry for
// the operator in each model format that has it.

#ifndef CLEAVE_GRAPH_ELEMENTWISE
#define CLEAVE_GRAPH_ELEMENTWISE

include "dialects/graph/GraphBase.td"

// The formula of an element in the description, with operand names in place of x[0], x[1], x[2].
class Graph_Formula<string formula, string x, string y = "", string z = ""> {
  string text =
    !subst("std::", "", !subst("x[0]", x, !subst("x[1]", y, !subst("x[2]", z, formula))));
}

// A description made of a formula, element types, constraints (numbered) and an example.
class Graph_PointwiseText<string math, string types, string remarks, string constraints,
                          string example> {
  string text = "\n    `result = " # math # "` for each element. " # types #
    !if(!empty(remarks), "", " " # remarks) # "\n\n" # constraints # "\n" # example;
}

defvar Graph_SameTypeUnary = "    (C1) `operand` and `result` have the same type.\n";
defvar Graph_SameTypeBinary = "    (C1) `lhs`, `rhs` and `result` have the same type.\n";

// `meaning` is the summary. `formula` computes one element from x[0], x[1], … in double precision,
// `build` builds the MLIR ops that compute it.
class Graph_PointwiseOp<string mnemonic, string meaning, string formula, string build,
                        list<Trait> traits>
    : Graph_PrimitiveOp<mnemonic, traits # [ComputeOp,
        DeclareOpInterfaceMethods<PointwiseInterface, ["getFlopsPerElement", "isLinear"]>]> {
  string math;             // the formula as documented, in terms of the operands' names
  string types;            // a sentence: the element types
  string remarks = "";     // further sentences of the description
  string constraints;      // a line each
  string example;          // a complete function, see Graph_Example
  int flopsPerElement = 1; // of functions: the number of additions that take the same time
  bit linear = 0;          // see PointwiseInterface::isLinear
  let summary = meaning;
  let description =
    Graph_PointwiseText<math, types, remarks, constraints, example>.text;
  let extraClassDefinition = [{
    double $cppClass::evaluateScalar(::llvm::ArrayRef<double> x) { return }] # formula # [{; }
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &b, ::mlir::Location loc,
                                         ::mlir::ValueRange x) {
      }] # build # [{
    }
    int64_t $cppClass::getFlopsPerElement() { return }] # !cast<string>(flopsPerElement) # [{; }
    bool $cppClass::isLinear() { return }] # !if(linear, "true", "false") # [{; }
    ::cleave::FactorRule $cppClass::getFactorRule() { return pointwiseRule(*this); }
    ::cleave::Polynomial $cppClass::getFlops() { return pointwiseFlops(*this); }
    ::llvm::SmallVector<::cleave::Tensor>
    $cppClass::evaluate(::llvm::ArrayRef<::cleave::Tensor> operands) {
      return evaluatePointwise(*this, operands);
    }
  }];
}

// A function of floats that is one op of the math dialect.
class Graph_UnaryOp<string mnemonic, string meaning, string formula, string mathOp, int flops = 1,
                    list<Trait> traits = []>
    : Graph_PointwiseOp<mnemonic, meaning, formula,
                        "return ::mlir::math::" # mathOp # "::create(b, loc, x[0]);",
                        [SameOperandsAndResultType] # traits> {
  let math = Graph_Formula<formula, "operand">.text;
  let types = "Elements are floats.";
  let constraints = Graph_SameTypeUnary;
  let example = Graph_Example<"%x: tensor<4x8xf32>", "graph." # mnemonic # " %x : tensor<4x8xf32>",
                              "tensor<4x8xf32>">.text;
  let flopsPerElement = flops;
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// A unary op that amplifies rounding errors or overflows 16-bit floats.
class Graph_WideUnaryOp<string mnemonic, string meaning, string formula, string mathOp, int flops>
    : Graph_UnaryOp<mnemonic, meaning, formula, mathOp, flops, [WidePrecision]>;

class Graph_BinaryOp<string mnemonic, string meaning, string formula, string build,
                     list<Trait> traits = []>
    : Graph_PointwiseOp<mnemonic, meaning, formula, build, [SameOperandsAndResultType] # traits> {
  let math = Graph_Formula<formula, "lhs", "rhs">.text;
  let types = "Elements are floats, integers or booleans.";
  let constraints = Graph_SameTypeBinary;
  let example = Graph_Example<"%x: tensor<4x8xf32>, %y: tensor<4x8xf32>",
                              "graph." # mnemonic # " %x, %y : tensor<4x8xf32>",
                              "tensor<4x8xf32>">.text;
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

// A binary op that is one op of the arith dialect for each of floats, signed and unsigned integers.
class Graph_ArithOp<string mnemonic, string meaning, string formula, string floatOp,
                    string signedOp, string unsignedOp>
    : Graph_BinaryOp<mnemonic, meaning, formula,
        "return isFloat(x[0])"
        " ? ::mlir::Value(::mlir::arith::" # floatOp # "::create(b, loc, x[0], x[1]))"
        " : isUnsigned(getType())"
        " ? ::mlir::Value(::mlir::arith::" # unsignedOp # "::create(b, loc, x[0], x[1]))"
        " : ::mlir::Value(::mlir::arith::" # signedOp # "::create(b, loc, x[0], x[1]));">;

// An op on the bits of integers; a boolean is one bit.
class Graph_BitwiseOp<string mnemonic, string meaning, string formula, string build>
    : Graph_PointwiseOp<mnemonic, meaning, formula, build, [SameOperandsAndResultType]> {
  let types = "Elements are integers or booleans.";
  let constraints = Graph_SameTypeBinary;
  let example = Graph_Example<"%x: tensor<4x8xi32>, %y: tensor<4x8xi32>",
                              "graph." # mnemonic # " %x, %y : tensor<4x8xi32>",
                              "tensor<4x8xi32>">.text;
  let arguments = (ins Graph_IntTensor:$lhs, Graph_IntTensor:$rhs);
  let results = (outs Graph_IntTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
// `sign` is the operator of C++, `arithOp` the op of the arith dialect.
class Graph_LogicalOp<string mnemonic, string meaning, string sign, string arithOp>
    : Graph_BitwiseOp<mnemonic, meaning,
                      "fromBits(toBits(x[0]) " # sign # " toBits(x[1]), getType())",
                      "return ::mlir::arith::" # arithOp # "::create(b, loc, x[0], x[1]);"> {
  let math = "lhs " # sign # " rhs";
}

// A unary op of floats and integers.
class Graph_SignedOp<string mnemonic, string meaning, string formula, string floatOp, string build>
    : Graph_PointwiseOp<mnemonic, meaning, formula,
        "if (isFloat(x[0])) return ::mlir::" # floatOp # "::create(b, loc, x[0]);" # build,
        [SameOperandsAndResultType]> {
  let math = Graph_Formula<formula, "operand">.text;
  let types = "Elements are floats, integers or booleans.";
  let constraints = Graph_SameTypeUnary;
  let example = Graph_Example<"%x: tensor<4x8xf32>", "graph." # mnemonic # " %x : tensor<4x8xf32>",
                              "tensor<4x8xf32>">.text;
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// -- one operand ----------------------------------------------------------------------------------
let linear = 1 in
def Graph_NegOp : Graph_SignedOp<"neg", "Negation", "-x[0]", "arith::NegFOp", [{
    auto zero = ::mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(x[0].getType(), 0));
    return ::mlir::arith::SubIOp::create(b, loc, zero, x[0]);
  }]>;
def Graph_AbsOp : Graph_SignedOp<"abs", "Absolute value", "std::fabs(x[0])", "math::AbsFOp", [{
    if (isUnsigned(getType())) return x[0];
    return ::mlir::math::AbsIOp::create(b, loc, x[0]);
  }]> {
  let math = "abs(operand)";
}
def Graph_ExpOp
    : Graph_WideUnaryOp<"exp", "Exponential function", "std::exp(x[0])", "ExpOp", 40>;
def Graph_LogOp : Graph_WideUnaryOp<"log", "Natural logarithm", "std::log(x[0])", "LogOp", 50>;
def Graph_Expm1Op : Graph_WideUnaryOp<"expm1", "e^x - 1", "std::expm1(x[0])", "ExpM1Op", 50>;
def Graph_Log1pOp : Graph_WideUnaryOp<"log1p", "Log of 1 + x", "std::log1p(x[0])", "Log1pOp", 55>;
def Graph_SqrtOp    : Graph_UnaryOp<"sqrt", "Square root", "std::sqrt(x[0])", "SqrtOp", 8>;
def Graph_RsqrtOp
    : Graph_WideUnaryOp<"rsqrt", "1 / sqrt(x)", "1 / std::sqrt(x[0])", "RsqrtOp", 8>;
def Graph_SinOp     : Graph_UnaryOp<"sin", "Sine, radians", "std::sin(x[0])", "SinOp", 55>;
def Graph_CosOp     : Graph_UnaryOp<"cos", "Cosine, radians", "std::cos(x[0])", "CosOp", 55>;
def Graph_TanhOp    : Graph_UnaryOp<"tanh", "Hyperbolic tangent", "std::tanh(x[0])", "TanhOp", 60>;
def Graph_AtanOp    : Graph_UnaryOp<"atan", "Arctangent, radians", "std::atan(x[0])", "AtanOp", 60>;
def Graph_ErfOp     : Graph_UnaryOp<"erf", "Error function", "std::erf(x[0])", "ErfOp", 72>;
def Graph_FloorOp   : Graph_UnaryOp<"floor", "Largest integer <= x", "std::floor(x[0])", "FloorOp">;
def Graph_CeilOp    : Graph_UnaryOp<"ceil", "Smallest integer >= x", "std::ceil(x[0])", "CeilOp">;
def Graph_RoundOp   : Graph_UnaryOp<"round", "Nearest integer, ties to even",
                                   "std::nearbyint(x[0])", "RoundEvenOp"> {
  let math = "roundeven(operand)";
}

def Graph_NotOp : Graph_PointwiseOp<"not", "Logical or bitwise complement",
    "elementTypeOf(getType()).isInteger(1) ? x[0] == 0 : -1 - x[0]", [{
    auto ones = ::mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(x[0].getType(), -1));
    return ::mlir::arith::XOrIOp::create(b, loc, x[0], ones);
  }], [SameOperandsAndResultType]> {
  let math = "~operand";
  let types = "Elements are integers or booleans.";
  let constraints = Graph_SameTypeUnary;
  let example = Graph_Example<"%x: tensor<4x8xi1>", "graph.not %x : tensor<4x8xi1>",
                              "tensor<4x8xi1>">.text;
  let arguments = (ins Graph_IntTensor:$operand);
  let results = (outs Graph_IntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_CastOp : Graph_PointwiseOp<"cast", "Conversion to another element type", "x[0]", [{
    return buildCast(b, loc, x[0], elementTypeOf(getOperand()), elementTypeOf(getResult()));
  }], [Graph_SameDims]> {
  let math = "convert(operand)";
  let types = "Elements of either tensor are floats, integers or booleans.";
  let remarks = "Floats become integers by truncation towards zero, any number becomes a boolean "
                "by comparison with 0, and an integer that does not fit wraps around.";
  let constraints = "    (C1) `operand` and `result` have the same shape.\n";
  let example = Graph_Example<"%x: tensor<4x8xf32>",
                              "graph.cast %x : tensor<4x8xf32> -> tensor<4x8xi64>",
                              "tensor<4x8xi64>">.text;
  let flopsPerElement = 0;
  let linear = 0;
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

// -- two operands ---------------------------------------------------------------------------------
let linear = 1 in {
def Graph_AddOp : Graph_ArithOp<"add", "Sum", "x[0] + x[1]", "AddFOp", "AddIOp", "AddIOp">;
def Graph_SubOp : Graph_ArithOp<"sub", "Difference", "x[0] - x[1]", "SubFOp", "SubIOp", "SubIOp">;
}
def Graph_MulOp : Graph_ArithOp<"mul", "Product", "x[0] * x[1]", "MulFOp", "MulIOp", "MulIOp">;
let remarks = "NaN if an operand is NaN." in {
def Graph_MaxOp : Graph_ArithOp<"max", "Maximum", "maximum(x[0], x[1])", "MaximumFOp", "MaxSIOp",
                                "MaxUIOp">;
def Graph_MinOp : Graph_ArithOp<"min", "Minimum", "minimum(x[0], x[1])", "MinimumFOp", "MinSIOp",
                                "MinUIOp">;
}
let flopsPerElement = 4 in
def Graph_DivOp : Graph_BinaryOp<"div", "Quotient", "divide(getType(), x[0], x[1])",
    "return buildDivision(b, loc, x[0], x[1], isUnsigned(getType()), /*remainder=*/false);"> {
  let math = "lhs / rhs";
  let remarks = "Integer division rounds towards zero; a quotient by the integer 0 is 0.";
}
def Graph_RemOp : Graph_BinaryOp<"rem", "Remainder", "remainder(getType(), x[0], x[1])",
    "return buildDivision(b, loc, x[0], x[1], isUnsigned(getType()), /*remainder=*/true);"> {
  let math = "lhs - trunc(lhs / rhs) * rhs";
  let remarks = "The result has the sign of `lhs`; a remainder by the integer 0 is 0.";
}
let flopsPerElement = 110 in
def Graph_PowOp : Graph_BinaryOp<"pow", "Power", "std::pow(x[0], x[1])",
    "return ::mlir::math::PowFOp::create(b, loc, x[0], x[1]);", [WidePrecision]> {
  let types = "Elements are floats.";
  let arguments = (ins Graph_FloatTensor:$lhs, Graph_FloatTensor:$rhs);
  let results = (outs Graph_FloatTensor:$result);
}
def Graph_AndOp : Graph_LogicalOp<"and", "Logical or bitwise and", "&", "AndIOp">;
def Graph_OrOp  : Graph_LogicalOp<"or", "Logical or bitwise or", "|", "OrIOp">;
def Graph_XorOp : Graph_LogicalOp<"xor", "Logical or bitwise exclusive or", "^", "XOrIOp">;
def Graph_ShiftLeftOp : Graph_BitwiseOp<"shift_left", "Left shift",
    "shiftLeft(getType(), x[0], x[1])",
    "return buildShift(b, loc, x[0], x[1], isUnsigned(getType()), /*left=*/true);"> {
  let math = "lhs * 2^rhs";
  let remarks = "Bits beyond the width of the element type are lost. If `rhs` is negative or not "
                "less than the width, the result is 0.";
}
def Graph_ShiftRightOp : Graph_BitwiseOp<"shift_right", "Right shift", "shiftRight(x[0], x[1])",
    "return buildShift(b, loc, x[0], x[1], isUnsigned(getType()), /*left=*/false);"> {
  let math = "floor(lhs / 2^rhs)";
  let remarks = "A signed integer keeps its sign. If `rhs` is negative, the result is 0.";
}

def Graph_RandomOp : Graph_PointwiseOp<"random", "Random numbers from counters and keys",
    "randomNumber(x[0], x[1])", "return buildRandomNumber(b, loc, x[0], x[1]);",
    [Graph_SameDims, AllTypesMatch<["counter", "key"]>]> {
  let math = "hash(counter, key)";
  let types = "`counter` and `key` are i64, `result` is f32, a multiple of 2^-24 in [0, 1).";
  let remarks = "The counter is the row-major position in the whole tensor and the key identifies "
                "the draw, so the numbers depend neither on the number of ranks nor on the order "
                "of execution.";
  let constraints = "    (C1) `counter` and `key` have the same type.\n"
                    "    (C2) `counter` and `result` have the same shape.\n";
  let example = Graph_Example<"%counter: tensor<4x8xi64>, %key: tensor<4x8xi64>",
                              "graph.random %counter, %key : tensor<4x8xi64> -> tensor<4x8xf32>",
                              "tensor<4x8xf32>">.text;
  let flopsPerElement = 10;
  let arguments = (ins Graph_TensorOf<[I64]>:$counter, Graph_TensorOf<[I64]>:$key);
  let results = (outs Graph_TensorOf<[F32]>:$result);
  let assemblyFormat = "$counter `,` $key attr-dict `:` type($counter) `->` type($result)";
}

def Graph_Predicate : I32EnumAttr<"Predicate", "predicate of a comparison",
    [I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
     I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">,
     I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_PredicateAttr : EnumAttr<Graph_Dialect, Graph_Predicate, "predicate">;

def Graph_CompareOp : Graph_PointwiseOp<"compare", "Comparison",
    "compareScalars(getPredicate(), x[0], x[1])",
    "return buildCompare(b, loc, getPredicate(), x[0], x[1], isUnsigned(getLhs().getType()));",
    [SameTypeOperands, Graph_SameDims, InferTypeOpAdaptor]> {
  let math = "lhs <predicate> rhs";
  let types = "Elements of the operands are floats, integers or booleans, those of the result i1.";
  let remarks = "A comparison with NaN is true for `ne` and false for all other predicates.";
  let constraints = "    (C1) `lhs` and `rhs` have the same type.\n"
                    "    (C2) `result` has the shape of `lhs` and the element type i1.\n";
  let example = Graph_Example<"%x: tensor<4x8xf32>, %y: tensor<4x8xf32>",
                              "graph.compare lt %x, %y : tensor<4x8xf32>",
                              "tensor<4x8xi1>">.text;
  let arguments = (ins Graph_PredicateAttr:$predicate, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Graph_SelectOp : Graph_PointwiseOp<"select", "Choice between two tensors by a condition",
    "x[0] != 0 ? x[1] : x[2]",
    "return ::mlir::arith::SelectOp::create(b, loc, x[0], x[1], x[2]);",
    [AllTypesMatch<["on_true", "on_false", "result"]>, Graph_SameDims]> {
  let math = "condition ? on_true : on_false";
  let types = "Elements of `condition` are i1, those of the others floats, integers or booleans.";
  let constraints = "    (C1) `on_true`, `on_false` and `result` have the same type.\n"
                    "    (C2) `condition` has the shape of `result`.\n";
  let example = Graph_Example<"%c: tensor<4x8xi1>, %x: tensor<4x8xf32>, %y: tensor<4x8xf32>",
                              "graph.select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>",
                              "tensor<4x8xf32>">.text;
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)
  }];
}

def Graph_DropoutOp : Graph_DroppingOp<"dropout", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "Dropout: the identity without a seed, random zeroing of elements with one";
  let description = [{
    `result = operand` in a forward graph. A training step adds the scalar `seed`; then
    `result = operand * factor` for each element, where the factor is 0 with probability `rate` and
    1 / (1 - rate) otherwise.
    The factor depends on the seed and on the element's row-major position in the whole tensor
    (graph.random), so the same seed drops the same elements of the operand's gradient, and of any
    tensor with the same elements in the same order.

    (C1) `operand` and `result` have the same type.
    (C2) `rate` is between 0 and 1.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %seed: tensor<i64>) -> tensor<4x8xf32> {
      %result = graph.dropout %x seed %seed {rate = 0.1 : f64} : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$operand, Optional<Graph_Seed>:$seed,
                       Graph_DropRate:$rate);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand (`seed` $seed^)? attr-dict `:` type($result)";
}

// -- composites -----------------------------------------------------------------------------------
class Graph_UnaryCompositeOp<string mnemonic, string meaning, string math>
    : Graph_CompositeOp<mnemonic, [SameOperandsAndResultType]> {
  string remarks = "";
  string example =
    Graph_Example<"%x: tensor<4x8xf32>", "graph." # mnemonic # " %x : tensor<4x8xf32>",
                  "tensor<4x8xf32>">.text;
  let summary = meaning;
  let description = Graph_PointwiseText<math, "Elements are floats.", remarks, Graph_SameTypeUnary,
                                        example>.text;
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_ReluOp : Graph_UnaryCompositeOp<"relu", "Rectified linear unit", "max(operand, 0)">;
def Graph_SigmoidOp
    : Graph_UnaryCompositeOp<"sigmoid", "Logistic function", "1 / (1 + exp(-operand))">;
def Graph_SiluOp : Graph_UnaryCompositeOp<"silu", "Sigmoid linear unit (swish)",
                                          "operand * sigmoid(operand)">;
def Graph_GeluOp : Graph_UnaryCompositeOp<"gelu", "Gaussian error linear unit",
                                          "0.5 * operand * (1 + erf(operand / sqrt(2)))"> {
  let remarks = "With `tanh`, the approximation `0.5 * operand * (1 + tanh(sqrt(2 / pi) * "
                "(operand + 0.044715 * operand^3)))`.";
  let arguments = (ins Graph_FloatTensor:$operand, UnitAttr:$tanh);
}
def Graph_QuickGeluOp
    : Graph_UnaryCompositeOp<"quick_gelu", "Approximation of gelu by a sigmoid",
                             "operand * sigmoid(1.702 * operand)">;

#endif
