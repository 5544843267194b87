// See Match.h.
#include "passes/simplify/Match.h"

#include <cmath>

namespace cleave::simplify {

using namespace graph;

bool isNear(double a, double b) { return a == b || std::fabs(a - b) <= 1e-5 * std::fabs(b); }

bool isSplatOf(Value value, double number) {
  std::optional<double> splat = splatValue(value);
  return splat && isNear(*splat, number);
}

Product productOf(Value value) {
  Product out;
  llvm::SmallVector<std::pair<Value, int>> open{{value, 0}};
  while (!open.empty()) {
    auto [next, depth] = open.pop_back_val();
    auto mul = next.getDefiningOp<MulOp>();
    auto div = next.getDefiningOp<DivOp>();
    if (std::optional<double> number = splatValue(next)) {
      out.number *= *number;
    } else if (mul && depth < 4) {
      open.push_back({mul.getRhs(), depth + 1});
      open.push_back({mul.getLhs(), depth + 1});
    } else if (std::optional<double> divisor = div ? splatValue(div.getRhs()) : std::nullopt;
               divisor && depth < 4) {
      out.number /= *divisor;
      open.push_back({div.getLhs(), depth + 1});
    } else if (auto neg = next.getDefiningOp<NegOp>(); neg && depth < 4) {
      out.number = -out.number;
      open.push_back({neg.getOperand(), depth + 1});
    } else {
      out.factors.push_back(next);
    }
  }
  return out;
}

bool isMonomial(const Product &a, double number, const Product &b, int power) {
  llvm::SmallVector<Value> left = a.factors;
  double expected = number * std::pow(b.number, power);
  if (!isNear(a.number, expected) || left.size() != b.factors.size() * power)
    return false;
  for (int i = 0; i < power; ++i)
    for (Value factor : b.factors) {
      auto *found = llvm::find(left, factor);
      if (found == left.end())
        return false;
      left.erase(found);
    }
  return true;
}

Value withoutFactor(Value value) {
  if (auto mul = value.getDefiningOp<MulOp>()) {
    if (splatValue(mul.getRhs()))
      return mul.getLhs();
    if (splatValue(mul.getLhs()))
      return mul.getRhs();
  }
  auto div = value.getDefiningOp<DivOp>();
  return div && splatValue(div.getRhs()) ? Value(div.getLhs()) : value;
}

static Shape dropUnitDims(Value value) {
  Shape shape = shapeOf(value);
  std::erase(shape, Polynomial(1));
  return shape;
}

Value withoutUnitDims(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (dropUnitDims(reshape.getOperand()) != dropUnitDims(value))
      break;
    value = reshape.getOperand();
  }
  return value;
}

Moved behindMoves(Value value) {
  constexpr size_t kMostMoves = 8;
  Moved out{value, {}};
  while (out.moves.size() < kMostMoves) {
    mlir::Operation *op = out.source.getDefiningOp();
    if (!op || !op->hasTrait<UnaryCopy>())
      break;
    out.moves.push_back(op);
    out.source = op->getOperand(0);
  }
  return out;
}

Value moveAlike(mlir::OpBuilder &b, Value source, llvm::ArrayRef<mlir::Operation *> moves) {
  for (mlir::Operation *move : llvm::reverse(moves)) {
    mlir::Type type = tensorOf(shapeOf(move->getResult(0)), elementTypeOf(source));
    source = cloneWith(b, move, mlir::ValueRange{source}, mlir::TypeRange{type})[0];
  }
  return source;
}

std::optional<DimGroups> mergedDims(ReshapeOp op) {
  Shape from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  DimGroups groups;
  size_t next = 0;
  for (const Polynomial &size : to) {
    llvm::SmallVector<int64_t> group;
    Polynomial product(1);
    while (next < from.size() && (group.empty() || product != size)) {
      product *= from[next];
      group.push_back(static_cast<int64_t>(next++));
    }
    if (group.empty() || product != size)
      return std::nullopt;
    groups.push_back(std::move(group));
  }
  if (next != from.size())
    return std::nullopt;
  return groups;
}

} // namespace cleave::simplify
