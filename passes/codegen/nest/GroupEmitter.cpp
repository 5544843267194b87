// Values in the order of the group's ops, the powers, and the passes of reductions.
#include "passes/codegen/nest/GroupEmitter.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace cleave::codegen {

namespace {

// x to a constant power by multiplications and square roots, if that is exact enough; else null.
Value buildConstantPower(OpBuilder &b, Location loc, Value x, double exponent) {
  auto one = [&] { return arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), 1)); };
  double magnitude = std::fabs(exponent);
  Value result;
  if (magnitude == 0)
    return one();
  if (magnitude == 0.5)
    result = math::SqrtOp::create(b, loc, x);
  else if (magnitude == std::floor(magnitude) && magnitude <= 8)
    for (int i = 0; i < static_cast<int>(magnitude); ++i)
      result = result ? Value(arith::MulFOp::create(b, loc, result, x)) : x;
  if (result && exponent < 0)
    result = arith::DivFOp::create(b, loc, one(), result);
  return result;
}

// |x|^y by exponential and logarithm, with the sign of x if y is odd; NaN if x is negative and y is
// no integer.
Value buildPower(OpBuilder &b, Location loc, Value x, Value y) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), value));
  };
  auto is = [&](arith::CmpFPredicate predicate, Value u, Value v) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, u, v);
  };
  using P = arith::CmpFPredicate;
  Value size = math::PowFOp::create(b, loc, math::AbsFOp::create(b, loc, x), y);
  Value half = arith::MulFOp::create(b, loc, y, number(0.5));
  Value isWhole = is(P::OEQ, math::FloorOp::create(b, loc, y), y),
        isEven = is(P::OEQ, math::FloorOp::create(b, loc, half), half);
  Value turned = arith::NegFOp::create(b, loc, size);
  Value below = arith::SelectOp::create(b, loc, isEven, size, turned);
  below = arith::SelectOp::create(b, loc, isWhole, below, number(std::nan("")));
  Value power = arith::SelectOp::create(b, loc, is(P::OLT, x, number(0)), below, size);
  return arith::SelectOp::create(b, loc, is(P::OEQ, y, number(0)), number(1), power);
}

// A power that is computed once per kernel, such as beta^step, of which the optimizer subtracts 1:
// in double precision.
Value buildScalarPower(OpBuilder &b, Location loc, Value x, Value exponent) {
  Type type = x.getType();
  auto widen = [&](Value v) {
    return type.isF64() ? v : Value(arith::ExtFOp::create(b, loc, b.getF64Type(), v));
  };
  Value power = buildPower(b, loc, widen(x), widen(exponent));
  return type.isF64() ? power : Value(arith::TruncFOp::create(b, loc, type, power));
}

} // namespace

GroupEmitter::GroupEmitter(KernelBuilder &kernel, graph::FusionOp fusion, const GroupNest &nest)
    : k_(kernel), nest_(nest), body_(fusion.getBody().front()), index_(nest.sizes.size()) {}

void GroupEmitter::emit() {
  switch (nest_.kind) {
  case GroupNest::Kind::Pointwise:
    return emitPointwise();
  case GroupNest::Kind::Rows:
    return emitRows();
  case GroupNest::Kind::Columns:
    return emitColumns();
  }
}

// -- elements -------------------------------------------------------------------------------------

bool GroupEmitter::isAvailable(Value value) const {
  return outer_.contains(value) || inner_.contains(value);
}

bool GroupEmitter::isReduction(Operation *op) const {
  auto reduce = dyn_cast_or_null<graph::ReduceOp>(op);
  return reduce && nest_.stage.lookup(reduce.getResult()) > nest_.stage.lookup(reduce.getOperand());
}

GroupEmitter::Roots GroupEmitter::needed(ArrayRef<Value> roots) {
  llvm::SmallSetVector<Value, 16> found;
  SmallVector<Value> stack(roots);
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (isAvailable(value) || graph::splatValue(value) || !found.insert(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (op && !isKept(value))
      llvm::append_range(stack, op->getOperands());
  }
  Roots ordered = found.takeVector();
  auto position = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? std::pair<Operation *, unsigned>(nullptr, argument.getArgNumber())
                    : std::pair<Operation *, unsigned>(value.getDefiningOp(), 0);
  };
  llvm::sort(ordered, [&](Value a, Value b) {
    auto [opA, numberA] = position(a);
    auto [opB, numberB] = position(b);
    if (!opA || !opB)
      return !opA && (opB || numberA < numberB);
    return opA->isBeforeInBlock(opB);
  });
  return ordered;
}

Value GroupEmitter::valueOf(Value value) {
  if (std::optional<double> splat = graph::splatValue(value))
    return k_.scalar(k_.wideType(graph::elementTypeOf(value)), *splat);
  if (Value emitted = inner_.lookup(value))
    return emitted;
  Value emitted = outer_.lookup(value);
  assert(emitted && "a value is used before it was emitted");
  return emitted;
}

Value GroupEmitter::addressOf(const Access &access) {
  Value address = k_.constant(access.offset);
  for (auto [factor, stride] : llvm::enumerate(access.strides))
    if (stride != 0)
      address = k_.add(address, k_.mul(index_[factor], stride));
  return address;
}

Value GroupEmitter::loadElement(const Access &access) {
  return k_.load(access.argument, addressOf(access), access.element);
}

void GroupEmitter::storeElement(Value scalar, const Access &access) {
  k_.store(scalar, access.argument, addressOf(access));
}

Value GroupEmitter::emitValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const Access &access = nest_.operands[argument.getArgNumber()];
    return k_.widen(loadElement(access));
  }
  if (isKept(value))
    return loadKept(value);
  return asStored(value, emitOp(value.getDefiningOp()));
}

Value GroupEmitter::asStored(Value value, Value wide) {
  bool isStored = llvm::is_contained(results(), value);
  return isStored ? k_.widen(k_.narrow(wide, graph::elementTypeOf(value))) : wide;
}

Value GroupEmitter::emitOp(Operation *op) {
  OpBuilder &b = k_.builder();
  if (auto iota = dyn_cast<graph::IotaOp>(op)) {
    int factor = nest_.iota.lookup(iota.getResult());
    Type element = graph::elementTypeOf(iota.getResult());
    Value index = factor < 0 ? k_.constant(0) : index_[factor];
    return k_.widen(graph::buildCast(b, k_.loc(), index, b.getI64Type(), element));
  }
  if (auto cast = dyn_cast<graph::CastOp>(op)) { // rounds, which is its meaning
    Type from = k_.wideType(graph::elementTypeOf(cast.getOperand()));
    return k_.widen(graph::buildCast(b, k_.loc(), valueOf(cast.getOperand()), from,
                                     graph::elementTypeOf(cast.getResult())));
  }
  auto pointwise = dyn_cast<graph::PointwiseInterface>(op);
  if (!pointwise) // moves elements only
    return valueOf(op->getOperand(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  Value result;
  if (auto pow = dyn_cast<graph::PowOp>(op)) {
    if (std::optional<double> exponent = graph::splatValue(pow.getRhs()))
      result = buildConstantPower(b, k_.loc(), operands[0], *exponent);
    else if (nest_.factors.lookup(pow.getResult()) == 0)
      result = buildScalarPower(b, k_.loc(), operands[0], operands[1]);
    if (!result)
      result = buildPower(b, k_.loc(), operands[0], operands[1]);
  }
  return result ? result : pointwise.buildScalar(b, k_.loc(), operands);
}

void GroupEmitter::emitOuter(ArrayRef<Value> roots) {
  for (Value value : needed(roots)) {
    if (nest_.hasInner(value))
      continue;
    OpBuilder::InsertionGuard guard(k_.builder());
    if (loops_ && nest_.factors.lookup(value) == 0 && nest_.stage.lookup(value) == 0)
      k_.builder().setInsertionPoint(loops_);
    outer_[value] = emitValue(value);
  }
}

void GroupEmitter::emitInner(ArrayRef<Value> roots) {
  for (Value value : needed(roots))
    inner_[value] = emitValue(value);
}

// Whether the value varies from row to row.
bool GroupEmitter::hasRows(Value value) const {
  uint64_t rows = 0;
  for (int factor : nest_.reduced)
    rows |= uint64_t(1) << factor;
  return (nest_.factors.lookup(value) & rows) != 0;
}

GroupEmitter::Roots GroupEmitter::resultsThat(llvm::function_ref<bool(Value)> isChosen) const {
  Roots chosen;
  llvm::copy_if(results(), std::back_inserter(chosen), isChosen);
  return chosen;
}

void GroupEmitter::storeResults(llvm::function_ref<bool(Value)> isChosen) {
  for (auto [value, access] : llvm::zip(results(), nest_.results))
    if (isChosen(value))
      storeElement(k_.narrow(valueOf(value), graph::elementTypeOf(value)), access);
}

void GroupEmitter::storeInnerResults() {
  storeResults([&](Value value) { return hasInner(value) && !isColumnSum(value); });
}

void GroupEmitter::storeOuterResults() {
  storeResults([&](Value value) { return !hasInner(value); });
}

// -- passes ---------------------------------------------------------------------------------------

void GroupEmitter::planPasses() {
  auto passOf = [&](int64_t pass) -> Pass & {
    passes_.resize(std::max<size_t>(passes_.size(), pass + 1));
    return passes_[pass];
  };
  for (Operation &op : body_.without_terminator())
    if (isReduction(&op)) {
      auto reduce = cast<graph::ReduceOp>(op);
      Pass &pass = passOf(nest_.stage.lookup(reduce.getOperand()));
      pass.reductions.push_back(reduce);
      pass.roots.push_back(reduce.getOperand());
    }
  auto rootOf = [&](Value value) {
    return isColumnSum(value) ? value.getDefiningOp()->getOperand(0) : value;
  };
  int last = 0;
  for (Value value : results())
    if (nest_.hasInner(value))
      last = std::max(last, nest_.stage.lookup(value));
  // Stores all results in the last pass, since operands in the same memory are read until then.
  passOf(last);
  for (Value value : results())
    if (nest_.hasInner(value))
      passes_.back().roots.push_back(rootOf(value));
}

Value GroupEmitter::linearReduced() {
  Value linear = k_.constant(0);
  for (int factor : nest_.reduced)
    linear = k_.add(k_.mul(linear, nest_.sizes[factor]), index_[factor]);
  return linear;
}

} // namespace cleave::codegen
