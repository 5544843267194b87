// Emitter: one operator of a model while its graph ops are built. What all families need: checks
// with messages, values that are known while importing, and building with dims as polynomials.
//
// A frontend makes one per operator and calls the families' functions (Slicing.h, Convolution.h, …)
// with it. Everything that the user can get wrong is a Failure (Failure.h), which the frontend
// reports with the operator's name; messages are therefore predicates: `has an operand of int64, …`.
//
// Dims are polynomials of the model's symbols (Lists.h). How decisions about symbols are made
// is said in dialects/graph/Symbols.h; where a number is needed, number() gives it or fails with the
// option that does.
#pragma once

#include "compiler/frontend/emit/Evaluate.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/emit/Lists.h"
#include "dialects/graph/Build.h"

namespace cleave::emit {

using mlir::Value;
using Values = llvm::SmallVector<Value>;
using graph::elementTypeOf;
using graph::Predicate;
using graph::rankOf;
using graph::Reduction;

// More dims than this are damage, not a tensor.
inline constexpr size_t kMaxRank = 32;
// Elements of one constant that an import makes: shapes, masks, tables, windows.
inline constexpr int64_t kMaxConstant = int64_t(1) << 24;

class Emitter {
public:
  Emitter(mlir::OpBuilder &b, mlir::Location loc, Evaluator &evaluator)
      : b(b), loc(loc), evaluator(evaluator) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  Evaluator &evaluator;

  // -- checks: fail with what was found and expected
  // `axis` counted from 0, from one in [-rank, rank).
  int64_t axis(int64_t axis, int64_t rank, const std::string &what = "axis") const;
  // The same for several; sorted and different.
  Ints axes(const Ints &axes, int64_t rank) const;
  void checkFloat(Value value) const;
  // Integers without bool.
  void checkInteger(Value value, const std::string &what = "operand") const;
  void checkBool(Value value, const std::string &what = "operand") const;
  void checkSameType(Value a, Value b) const;
  // That dim `dim` is one of `rank`, that the numbers are an order of so many dims.
  void checkDim(int64_t dim, int64_t rank) const;
  void checkOrder(llvm::ArrayRef<int64_t> permutation, int64_t rank) const;
  // Of one element type and shape.
  void checkAlike(Value a, Value b) const;
  // At least so many dims.
  void checkRank(Value value, int64_t atLeast) const;
  // The size of dim `dim`, counted from 0; fails where the value has fewer dims.
  Polynomial dim(Value value, int64_t dim) const { return shapeOf(value)[dim]; }
  // The tensor type with these dims; fails where one is negative or the elements are too many.
  mlir::RankedTensorType type(const Shape &dims, mlir::Type element) const;

  // -- sizes as numbers: `what` names the need, `padding` say
  int64_t number(const Polynomial &size, const std::string &what) const;
  Ints numbers(const Shape &sizes, const std::string &what) const;

  // -- values that are known while importing: fail where they depend on data
  std::optional<Tensor> known(Value value) const { return evaluator.evaluate(value); }
  // A scalar or list of integers, which may depend on symbols.
  Shape sizesOf(Value value, const std::string &what) const;
  Polynomial sizeOf(Value value, const std::string &what) const;
  // Integers, one number, and a tensor of any shape, which may not.
  Ints integersOf(Value value, const std::string &what) const;
  int64_t integerOf(Value value, const std::string &what) const;
  double numberOf(Value value, const std::string &what) const;
  Tensor tensorOf(Value value, const std::string &what) const;

  // -- constants, of at most kMaxConstant elements
  Value constant(const Tensor &tensor) const;
  Value scalar(mlir::Type element, double value) const;
  // Lists of int64; sizes may depend on symbols.
  Value integers(const Ints &values) const;
  Value sizes(const Shape &values) const;
  // A scalar int64.
  Value size(const Polynomial &value) const;
  // All elements equal, in the type of `like` or with these dims.
  Value splat(Value like, double value) const;
  Value splat(const Shape &dims, mlir::Type element, double value) const;
  // The same for a number that may depend on symbols.
  Value splatSize(Value like, const Polynomial &numerator, const Polynomial &divisor = 1) const;
  // Every element is its index along `dim`.
  Value iota(const Shape &dims, int64_t dim, mlir::Type element) const;

  // -- movement
  // The same elements under another shape; fails where the counts differ.
  Value reshape(Value value, const Shape &dims) const;
  // What follows fails where a dim is named that the value does not have.
  // A dim of size 1 before dim `axis` (0 to rank); without dim `axis` of size 1.
  Value insertDim(Value value, int64_t axis) const;
  Value dropDim(Value value, int64_t axis) const;
  // To `dims` by numpy's rule; fails where it does not fit.
  Value broadcast(Value value, const Shape &dims) const;
  // Both (all) to their common numpy shape.
  void broadcastTogether(Value &x, Value &y) const;
  void broadcastTogether(Values &values) const;
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation) const;
  // Dims a and b change places.
  Value swapDims(Value value, int64_t a, int64_t c) const;
  // `size` elements of dim `dim` from `start` on, every `stride`-th (>= 1).
  Value slice(Value value, int64_t dim, const Polynomial &start, const Polynomial &size,
              int64_t stride = 1) const;
  // Along dim `dim` the elements that `indices` number, which come in its place; 0 where a number is none. The first
  // `batch` dims of both, in front of `dim`, are the same; fails where they are not.
  Value gather(Value value, Value indices, int64_t dim, int64_t batch = 0) const;
  // `low` elements in front of dim `dim` and `high` behind, none negative, all `fill`.
  Value pad(Value value, int64_t dim, const Polynomial &low, const Polynomial &high,
            double fill = 0) const;
  // One after the other along `dim`; fails where the other dims or the types differ.
  Value concat(const Values &values, int64_t dim) const;
  Value reverse(Value value, int64_t dim) const;

  // -- arithmetic: fails unless the operands have one type and shape; numbers are repeated
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
  // Of one operand: Op::create with the operand's type.
  template <typename Op> Value unary(Value x) const { return Op::create(b, loc, x.getType(), x); }
  template <typename Op> Value binary(Value x, Value y) const {
    checkAlike(x, y);
    return Op::create(b, loc, x, y);
  }
  // -x, |x| of integers too.
  Value neg(Value x) const;
  Value abs(Value x) const;
  Value compare(Predicate predicate, Value x, Value y) const;
  Value compare(Predicate predicate, Value x, double y) const;
  Value logicalNot(Value x) const { return unary<graph::NotOp>(x); }
  Value select(Value condition, Value yes, Value no) const;
  // The numbers in another element type as frameworks mean it: floats towards zero, bool as
  // "not zero".
  Value cast(Value value, mlir::Type element) const;

  // -- reductions over `dims`, which vanish or stay with size 1
  Value reduce(Reduction kind, Value value, const Ints &dims, bool keep = false) const;
  Value mean(Value value, const Ints &dims, bool keep = false) const;
};

// -- what families share
bool isFloat(Value value);
bool isBool(Value value);
inline mlir::Type elementOf(Value value) { return graph::elementTypeOf(value); }
// `float32`, … of an element type, of a tensor.
std::string typeName(ElementType type);
std::string typeNameOf(Value value);
// `[2, batch]`.
std::string showShape(const Shape &dims);
std::string showInts(const Ints &values);
// The number without what is behind the point; fails where it has more than 64 bits.
int64_t truncated(double number);
// The shape of plain numbers.
Shape toShape(llvm::ArrayRef<int64_t> values);
Polynomial product(llvm::ArrayRef<Polynomial> dims);
// The common numpy shape; fails if there is none.
Shape broadcastShape(const Shape &a, const Shape &b);
// 0, 1, …, rank - 1, or from `first` on.
Ints dimsFrom(int64_t first, int64_t rank);

} // namespace cleave::emit
