// Emitter: builds the graph ops of one operator of a model: checks with messages, values that are
// known while importing, and ops on tensors whose dims are polynomials.
//
// A frontend creates one per operator and calls the functions of the families (Slicing.h,
// Convolution.h, …) with it. The user's mistakes are Failures (Failure.h), which the frontend
// reports with the operator's name; messages are therefore predicates: `has an operand of int64,
// …`.
//
// Sizes of dims are polynomials of the model's symbols (Lists.h). dialects/graph/Symbols.h
// describes how questions about symbols are decided. Where a number is needed, number() returns it
// or fails and names the option that sets the symbol.
#pragma once

#include "compiler/frontend/emit/Evaluate.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/emit/Lists.h"
#include "dialects/graph/Build.h"

namespace cleave::emit {

// The ops' operands and results, and the names of the graph dialect that all families use.
using mlir::Value;
using Values = llvm::SmallVector<Value>;
using graph::elementTypeOf;
using graph::Predicate;
using graph::rankOf;
using graph::Reduction;

// The largest number of dims; files with more are damaged.
inline constexpr size_t kMaxRank = 32;
// The largest number of elements of a constant that an import creates (shapes, masks, tables,
// windows).
inline constexpr int64_t kMaxConstant = int64_t(1) << 24;

class Emitter {
public:
  Emitter(mlir::OpBuilder &b, mlir::Location loc, Evaluator &evaluator)
      : b(b), loc(loc), evaluator(evaluator) {}

  // Where ops are built, their location, and the evaluator of the whole import.
  mlir::OpBuilder &b;
  mlir::Location loc;
  Evaluator &evaluator;

  // -- checks: fail with what was found and what was expected
  // Converts an axis in [-rank, rank) to one in [0, rank).
  int64_t axis(int64_t axis, int64_t rank, const std::string &what = "axis") const;
  // The same for several axes; sorted. Fails on duplicates.
  Ints axes(const Ints &axes, int64_t rank) const;
  // Check the element type; bool is not an integer.
  void checkFloat(Value value) const;
  void checkInteger(Value value, const std::string &what = "operand") const;
  void checkBool(Value value, const std::string &what = "operand") const;
  void checkSameType(Value a, Value b) const;
  // Checks 0 <= dim < rank. Checks that `permutation` permutes [0, rank).
  void checkDim(int64_t dim, int64_t rank) const;
  void checkPermutation(llvm::ArrayRef<int64_t> permutation, int64_t rank) const;
  // Checks that the types (element type and shape) are equal.
  void checkAlike(Value a, Value b) const;
  // Checks that the value has at least `atLeast` dims.
  void checkRank(Value value, int64_t atLeast) const;
  // The size of dim `dim`; fails where the value has fewer dims.
  Polynomial dim(Value value, int64_t dim) const { return shapeOf(value)[dim]; }
  // The tensor type with these sizes; fails on negative sizes and more than 2^56 elements.
  mlir::RankedTensorType type(const Sizes &dims, mlir::Type element) const;

  // -- sizes as numbers: fail where they depend on a symbol; `what` names them (`padding`)
  int64_t number(const Polynomial &size, const std::string &what) const;
  Ints numbers(const Sizes &sizes, const std::string &what) const;

  // -- values known while importing: fail where they depend on data; `what` names them
  // None where the value depends on data or a symbol.
  std::optional<Tensor> known(Value value) const { return evaluator.evaluate(value); }
  // Integers in a scalar or list; they may depend on symbols.
  Sizes sizesOf(Value value, const std::string &what) const;
  Polynomial sizeOf(Value value, const std::string &what) const;
  // Integers, one number, a tensor of any shape; they may not depend on symbols.
  Ints integersOf(Value value, const std::string &what) const;
  int64_t integerOf(Value value, const std::string &what) const;
  double numberOf(Value value, const std::string &what) const;
  Tensor tensorOf(Value value, const std::string &what) const;

  // -- constants, of at most kMaxConstant elements
  Value constant(const Tensor &tensor) const;
  Value scalar(mlir::Type element, double value) const;
  // Lists of int64; `sizes` may depend on symbols.
  Value integers(const Ints &values) const;
  Value sizes(const Sizes &values) const;
  // A scalar int64.
  Value size(const Polynomial &value) const;
  // All elements equal `value`, with the type of `like` or the given one.
  Value splat(Value like, double value) const;
  Value splat(const Sizes &dims, mlir::Type element, double value) const;
  // All elements equal numerator / divisor, which may depend on symbols.
  Value splatSize(Value like, const Polynomial &numerator, const Polynomial &divisor = 1) const;
  // Each element is its index along `dim`.
  Value iota(const Sizes &dims, int64_t dim, mlir::Type element) const;

  // -- movement
  // The same elements with another shape; fails where the numbers of elements differ.
  Value reshape(Value value, const Sizes &dims) const;
  // The functions below fail where the value lacks a dim that an argument names.
  // Inserts a dim of size 1 before dim `axis` (0 to rank); removes dim `axis` of size 1.
  Value insertDim(Value value, int64_t axis) const;
  Value dropDim(Value value, int64_t axis) const;
  // Broadcasts to `dims` by numpy's rule; fails where the sizes do not fit.
  Value broadcast(Value value, const Sizes &dims) const;
  // Broadcast all values to their common numpy shape.
  void broadcastTogether(Value &x, Value &y) const;
  void broadcastTogether(Values &values) const;
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation) const;
  // Exchanges two dims.
  Value swapDims(Value value, int64_t first, int64_t second) const;
  // `size` elements along `dim`: start, start + stride, …; stride >= 1.
  Value slice(Value value, int64_t dim, const Polynomial &start, const Polynomial &size,
              int64_t stride = 1) const;
  // Gathers along `dim`: the dims of `indices` after the first `batch` replace dim `dim`; elements
  // with an index out of range are 0. The first `batch` dims of both, all before `dim`, must be
  // equal.
  Value gather(Value value, Value indices, int64_t dim, int64_t batch = 0) const;
  // Adds `low` elements at the start of dim `dim` and `high` at its end, all `fill`; fails where
  // one is negative.
  Value pad(Value value, int64_t dim, const Polynomial &low, const Polynomial &high,
            double fill = 0) const;
  // Joins the values along `dim`; fails where the other dims or the types differ.
  Value concat(const Values &values, int64_t dim) const;
  Value reverse(Value value, int64_t dim) const;

  // -- arithmetic: fails unless the operands have one type and shape; numbers become splats
  Value add(Value x, Value y) const { return binary<graph::AddOp>(x, y); }
  Value sub(Value x, Value y) const { return binary<graph::SubOp>(x, y); }
  Value mul(Value x, Value y) const { return binary<graph::MulOp>(x, y); }
  Value div(Value x, Value y) const { return binary<graph::DivOp>(x, y); }
  Value max(Value x, Value y) const { return binary<graph::MaxOp>(x, y); }
  Value min(Value x, Value y) const { return binary<graph::MinOp>(x, y); }
  Value add(Value x, double y) const { return add(x, splat(x, y)); }
  Value sub(Value x, double y) const { return sub(x, splat(x, y)); }
  Value sub(double x, Value y) const { return sub(splat(y, x), y); }
  Value mul(Value x, double y) const { return mul(x, splat(x, y)); }
  Value div(Value x, double y) const { return div(x, splat(x, y)); }
  Value div(double x, Value y) const { return div(splat(y, x), y); }
  Value max(Value x, double y) const { return max(x, splat(x, y)); }
  Value min(Value x, double y) const { return min(x, splat(x, y)); }
  // Any op of one or two operands whose result has their type.
  template <typename Op> Value unary(Value x) const { return Op::create(b, loc, x.getType(), x); }
  template <typename Op> Value binary(Value x, Value y) const {
    checkAlike(x, y);
    return Op::create(b, loc, x, y);
  }
  // -x, |x|; of integers too.
  Value neg(Value x) const;
  Value abs(Value x) const;
  Value compare(Predicate predicate, Value x, Value y) const;
  Value compare(Predicate predicate, Value x, double y) const;
  Value logicalNot(Value x) const { return unary<graph::NotOp>(x); }
  Value select(Value condition, Value yes, Value no) const;
  // Converts the element type as frameworks do: floats are truncated to integers, bool is `x != 0`.
  Value cast(Value value, mlir::Type element) const;

  // -- reductions over `dims`, which are removed or, with `keep`, stay with size 1
  Value reduce(Reduction kind, Value value, const Ints &dims, bool keep = false) const;
  Value mean(Value value, const Ints &dims, bool keep = false) const;
};

// -- functions that families share
bool isFloat(Value value);
bool isBool(Value value);
inline mlir::Type elementOf(Value value) { return graph::elementTypeOf(value); }
// `float32`, …: the name of an element type, of the element type of a value.
std::string typeName(ElementType type);
std::string typeNameOf(Value value);
// `[2, batch]`, for messages.
std::string showShape(const Sizes &dims);
std::string showInts(const Ints &values);
// The number truncated to an integer; fails where it does not fit into 64 bits.
int64_t truncated(double number);
// Sizes from plain numbers.
Sizes toShape(llvm::ArrayRef<int64_t> values);
Polynomial product(llvm::ArrayRef<Polynomial> dims);
// The common numpy shape; fails where there is none.
Sizes broadcastShape(const Sizes &a, const Sizes &b);
// first, first + 1, …, rank - 1.
Ints dimsFrom(int64_t first, int64_t rank);

} // namespace cleave::emit
