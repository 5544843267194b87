// The elements of a group, and the nests of the kinds Pointwise and Rows; Columns is in
// ColumnEmitter.cpp.
#include "passes/codegen/cpu/GroupEmitter.h"

#include "dialects/graph/Cost.h"
#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace cleave::codegen {

namespace {

// Elements of scratch memory of one call. A longer row is recomputed in every pass.
constexpr int64_t kScratchElements = 16384;

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
    if (op && !scratch_.contains(value))
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

Value GroupEmitter::emitValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const Access &access = nest_.operands[argument.getArgNumber()];
    return k_.widen(k_.load(access.argument, addressOf(access), access.element));
  }
  if (Value scratch = scratch_.lookup(value))
    return k_.loadFrom(scratch, linearReduced(), k_.wideType(graph::elementTypeOf(value)));
  return asStored(value, emitOp(value.getDefiningOp()));
}

Value GroupEmitter::asStored(Value value, Value wide) {
  bool isStored = llvm::is_contained(body_.getTerminator()->getOperands(), value);
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

void GroupEmitter::storeResults(llvm::function_ref<bool(Value)> isChosen) {
  for (auto [value, access] : llvm::zip(body_.getTerminator()->getOperands(), nest_.results))
    if (isChosen(value))
      k_.store(k_.narrow(valueOf(value), graph::elementTypeOf(value)), access.argument,
               addressOf(access));
}

void GroupEmitter::storeInnerResults() {
  storeResults([&](Value value) { return nest_.hasInner(value); });
}

void GroupEmitter::storeOuterResults() {
  storeResults([&](Value value) { return !nest_.hasInner(value); });
}

// -- nests ----------------------------------------------------------------------------------------

// The loop over the parallel range, with the indices of its factors.
void GroupEmitter::outerLoop(const std::function<void()> &body) {
  k_.loop(k_.begin(), k_.end(), 1, [&](Value point) {
    loops_ = k_.builder().getInsertionBlock()->getParentOp();
    for (auto [factor, index] : llvm::zip(nest_.outer, k_.delinearize(point, nest_.outerSizes())))
      index_[factor] = index;
    body();
  });
}

void GroupEmitter::emitPointwise() {
  Roots results(body_.getTerminator()->getOperands());
  auto element = [&](Value index) {
    if (!loops_)
      loops_ = k_.builder().getInsertionBlock()->getParentOp();
    index_[nest_.inner] = index;
    emitOuter(results);
    emitInner(results);
    storeInnerResults();
    storeOuterResults();
  };
  if (nest_.inner >= 0 && nest_.outer.empty())
    return k_.loop(k_.begin(), k_.end(), 1, element);
  outerLoop([&] {
    emitOuter(results);
    if (nest_.across >= 0)
      emitTiles(element);
    else if (nest_.inner >= 0)
      k_.loop(k_.constant(0), k_.constant(nest_.sizes[nest_.inner]), 1, element);
    else
      storeOuterResults();
  });
}

// Loops over the tiles of a range of `across`, whose index counts tiles here, along `inner`.
void GroupEmitter::emitTiles(const KernelBuilder::Body &element) {
  auto endOf = [&](Value from, int factor) {
    return k_.smaller(k_.add(from, k_.constant(kTile)), nest_.sizes[factor]);
  };
  Value row = k_.mul(index_[nest_.across], kTile), endRow = endOf(row, nest_.across);
  k_.loop(k_.constant(0), k_.constant(nest_.sizes[nest_.inner]), kTile, [&](Value column) {
    Value endColumn = endOf(column, nest_.inner);
    k_.loop(row, endRow, 1, [&](Value index) {
      index_[nest_.across] = index;
      k_.loop(column, endColumn, 1, element);
    });
  });
}

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
  int last = 0;
  for (Value value : body_.getTerminator()->getOperands())
    if (nest_.hasInner(value))
      last = std::max(last, nest_.stage.lookup(value));
  // Stores all results in the last pass, since operands in the same memory are read until then.
  passOf(last);
  for (Value value : body_.getTerminator()->getOperands())
    if (nest_.hasInner(value))
      passes_.back().roots.push_back(value);
}

// A costly value of an earlier pass is kept rather than recomputed.
void GroupEmitter::planScratch() {
  if (nest_.size(nest_.reduced) > kScratchElements)
    return;
  llvm::DenseMap<Value, size_t> firstPass;
  llvm::DenseMap<Value, bool> costly;
  for (Operation &op : body_.without_terminator()) {
    bool isCostlyValue = graph::isCostly(&op);
    for (Value operand : op.getOperands())
      isCostlyValue |= nest_.hasInner(operand) && costly.lookup(operand);
    costly[op.getResult(0)] = isCostlyValue && nest_.hasInner(op.getResult(0));
  }
  llvm::DenseSet<Value> kept;
  for (size_t pass = 0; pass < passes_.size(); ++pass) {
    SmallVector<Value> stack(passes_[pass].roots);
    llvm::DenseSet<Value> seen;
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !nest_.hasInner(value) || graph::splatValue(value) || !seen.insert(value).second)
        continue;
      size_t first = firstPass.try_emplace(value, pass).first->second;
      if (first == pass || !costly.lookup(value))
        llvm::append_range(stack, op->getOperands());
      else if (kept.insert(value).second)
        passes_[first].kept.push_back(
            {value,
             k_.scratch(nest_.size(nest_.reduced), k_.wideType(graph::elementTypeOf(value)))});
    }
  }
}

Value GroupEmitter::linearReduced() {
  Value linear = k_.constant(0);
  for (int factor : nest_.reduced)
    linear = k_.add(k_.mul(linear, nest_.sizes[factor]), index_[factor]);
  return linear;
}

SmallVector<Value> GroupEmitter::emitPassBody(const Pass &pass, ValueRange carried) {
  inner_.clear();
  emitInner(pass.roots);
  for (auto [value, scratch] : pass.kept)
    k_.storeTo(valueOf(value), scratch, linearReduced());
  SmallVector<Value> next;
  for (auto [reduce, before] : llvm::zip(pass.reductions, carried)) {
    graph::ReduceOp op = reduce;
    next.push_back(k_.combine(op.getKind(), graph::elementTypeOf(op.getOperand()), before,
                              valueOf(op.getOperand())));
  }
  if (&pass == &passes_.back())
    storeInnerResults();
  inner_.clear();
  return next;
}

SmallVector<Value> GroupEmitter::emitPassLoops(const Pass &pass, size_t depth, ValueRange carried) {
  if (depth == nest_.reduced.size())
    return emitPassBody(pass, carried);
  int factor = nest_.reduced[depth];
  return k_.fold(k_.constant(0), k_.constant(nest_.sizes[factor]), carried,
                 [&](Value index, ValueRange inside) {
                   index_[factor] = index;
                   return emitPassLoops(pass, depth + 1, inside);
                 });
}

void GroupEmitter::emitPoint() {
  for (const Pass &pass : passes_) {
    emitOuter(pass.roots);
    SmallVector<Value> start;
    for (graph::ReduceOp reduce : pass.reductions)
      start.push_back(
          k_.neutral(reduce.getKind(), k_.wideType(graph::elementTypeOf(reduce.getOperand()))));
    SmallVector<Value> sums = emitPassLoops(pass, 0, start);
    for (auto [value, scratch] : pass.kept)
      scratch_[value] = scratch;
    for (auto [reduce, sum] : llvm::zip(pass.reductions, sums)) {
      graph::ReduceOp op = reduce;
      outer_[op.getResult()] = asStored(op.getResult(), sum);
    }
  }
  Roots results;
  for (Value value : body_.getTerminator()->getOperands())
    if (!nest_.hasInner(value))
      results.push_back(value);
  emitOuter(results);
  storeOuterResults();
}

void GroupEmitter::emitRows() {
  planPasses();
  planScratch();
  outerLoop([&] { emitPoint(); });
}

} // namespace cleave::codegen
