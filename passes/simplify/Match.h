// Match: what patterns ask of values: known splats, the factors of products, the source behind
// moves.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::simplify {

using mlir::Value;

// Whether all elements of `value` are `number`, up to a relative error of 1e-5, since exporters
// write √2 as a float32.
bool isSplatOf(Value value, double number);
bool isNear(double a, double b);

// A product of tensors and a known number: number * factors[0] * factors[1] * ….
struct Product {
  double number = 1;
  llvm::SmallVector<Value> factors;
};
// The factors of `value` through multiplications, divisions by known numbers and negations, a few
// levels deep.
Product productOf(Value value);
// Whether `a` is number * b^power.
bool isMonomial(const Product &a, double number, const Product &b, int power);

// The value that gives `value` if multiplied or divided by a known number; `value` itself if it is
// no such product.
Value withoutFactor(Value value);

// The other operand of a commutative op with the splat `number` as one operand; null if neither is.
template <typename Op> Value otherThanSplat(Value value, double number) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return nullptr;
  if (isSplatOf(op.getRhs(), number))
    return op.getLhs();
  return isSplatOf(op.getLhs(), number) ? op.getRhs() : Value();
}

// The operand of reshapes that only add or drop dims of size 1.
Value withoutUnitDims(Value value);

// A value and the movement ops on the way from it to another value.
struct Moved {
  Value source;
  llvm::SmallVector<mlir::Operation *> moves; // the last one first
};
// The source of `value` before movement ops, which rearrange elements without computing.
Moved behindMoves(Value value);
// Applies the same moves to another source of the same shape.
Value moveAlike(mlir::OpBuilder &b, Value source, llvm::ArrayRef<mlir::Operation *> moves);

// For a reshape that merges neighbouring dims, the operand's dims in each dim of the result; none
// for other reshapes.
using DimGroups = llvm::SmallVector<llvm::SmallVector<int64_t>>;
std::optional<DimGroups> mergedDims(graph::ReshapeOp op);

} // namespace cleave::simplify
