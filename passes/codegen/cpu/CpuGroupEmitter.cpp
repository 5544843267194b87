// The nests of the kinds Pointwise and Rows; Columns is in ColumnEmitter.cpp.
#include "passes/codegen/cpu/CpuGroupEmitter.h"

#include "dialects/graph/Cost.h"
#include "passes/codegen/cpu/RowSums.h"

using namespace mlir;

namespace cleave::codegen {

// Elements of scratch memory of one call. A longer row is recomputed in every pass.
static constexpr int64_t kScratchElements = 16384;

CpuGroupEmitter::CpuGroupEmitter(CpuKernel &kernel, graph::FusionOp fusion, const GroupNest &nest)
    : GroupEmitter(kernel, fusion, nest), cpu_(kernel) {}

bool CpuGroupEmitter::isKept(Value value) const { return scratch_.contains(value); }

Value CpuGroupEmitter::loadKept(Value value) {
  return k_.loadFrom(scratch_.lookup(value), linearReduced(),
                     k_.wideType(graph::elementTypeOf(value)));
}

// The loop over the parallel range, with the indices of its factors.
void CpuGroupEmitter::outerLoop(const std::function<void()> &body) {
  k_.points(nest_.extent(), [&](Value point) {
    loops_ = k_.builder().getInsertionBlock()->getParentOp();
    for (auto [factor, index] : llvm::zip(nest_.outer, k_.delinearize(point, nest_.outerSizes())))
      index_[factor] = index;
    body();
  });
}

void CpuGroupEmitter::emitPointwise() {
  Roots all(results());
  auto element = [&](Value index) {
    if (!loops_)
      loops_ = k_.builder().getInsertionBlock()->getParentOp();
    index_[nest_.inner] = index;
    emitOuter(all);
    emitInner(all);
    storeInnerResults();
    storeOuterResults();
  };
  if (nest_.inner >= 0 && nest_.outer.empty())
    return k_.points(nest_.extent(), element);
  outerLoop([&] {
    emitOuter(all);
    if (nest_.across >= 0)
      emitTiles(element);
    else if (nest_.inner >= 0)
      k_.loop(k_.constant(0), k_.constant(nest_.sizes[nest_.inner]), 1, element);
    else
      storeOuterResults();
  });
}

// Loops over the tiles of a range of `across`, whose index counts tiles here, along `inner`.
void CpuGroupEmitter::emitTiles(const KernelBuilder::Body &element) {
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

// A costly value of an earlier pass is kept rather than recomputed.
void CpuGroupEmitter::planScratch() {
  kept_.resize(passes_.size());
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
        kept_[first].push_back({value, cpu_.scratch(nest_.size(nest_.reduced),
                                                    k_.wideType(graph::elementTypeOf(value)))});
    }
  }
}

// Stores what the pass stores at the current indices; returns the operands of its reductions.
SmallVector<Value> CpuGroupEmitter::emitElement(size_t number) {
  const Pass &pass = passes_[number];
  inner_.clear();
  emitInner(pass.roots);
  for (auto [value, scratch] : kept_[number])
    k_.storeTo(valueOf(value), scratch, linearReduced());
  SmallVector<Value> operands;
  for (graph::ReduceOp reduce : pass.reductions)
    operands.push_back(valueOf(reduce.getOperand()));
  if (number + 1 == passes_.size())
    storeInnerResults();
  inner_.clear();
  return operands;
}

void CpuGroupEmitter::emitPoint() {
  for (auto [number, pass] : llvm::enumerate(passes_)) {
    emitOuter(pass.roots);
    auto element = [&] { return emitElement(number); };
    SmallVector<Value> sums = RowSums(cpu_, nest_, pass.reductions, index_, element).emit();
    for (auto [value, scratch] : kept_[number])
      scratch_[value] = scratch;
    for (auto [reduce, sum] : llvm::zip(pass.reductions, sums)) {
      graph::ReduceOp op = reduce;
      outer_[op.getResult()] = asStored(op.getResult(), sum);
    }
  }
  emitOuter(resultsThat([&](Value value) { return !hasInner(value); }));
  storeOuterResults();
}

void CpuGroupEmitter::emitRows() {
  planPasses();
  planScratch();
  outerLoop([&] { emitPoint(); });
}

} // namespace cleave::codegen
