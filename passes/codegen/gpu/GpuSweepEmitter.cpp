// The kind Rows with column sums: a block sweeps over the rows of one part, and each thread adds
// its columns up in registers.
#include "passes/codegen/gpu/GpuGroupEmitter.h"

using namespace mlir;

namespace cleave::codegen {

void GpuGroupEmitter::emitSweep() {
  planPasses();
  gpu_.setLaunch(threads_.launch);
  inRow_ = gpu_.thread();
  for (auto [factor, index] :
       llvm::zip(nest_.outer, k_.delinearize(gpu_.block(), nest_.outerSizes())))
    index_[factor] = index;
  SmallVector<graph::ReduceOp> reductions;
  SmallVector<Value> sums; // per reduction, chunk and lane
  for (auto reduce : body_.getOps<graph::ReduceOp>())
    if (nest_.columnSums.contains(reduce.getResult())) {
      reductions.push_back(reduce);
      sums.append(
          threads_.chunksPerThread() * threads_.width,
          k_.neutral(reduce.getKind(), k_.wideType(graph::elementTypeOf(reduce.getOperand()))));
    }
  const int64_t rows = nest_.size(nest_.swept);
  const size_t count = sums.size();
  placeInSweep(k_.constant(0));
  fillRegisters();
  loadRegisters([&](const Access &access) { return !varies(access, nest_.swept); });
  const SmallVector<Chunk> unloaded = registers_; // with what does not vary from row to row
  sums.append(loadSweptRow(k_.constant(0)));
  sums = gpu_.fold(k_.constant(0), k_.constant(rows), 1, sums, [&](Value row, ValueRange carried) {
    Value next = k_.add(row, k_.constant(1));
    SmallVector<Value> ahead =
        gpu_.guardedValues(gpu_.isBelow(next, rows), [&] { return loadSweptRow(next); });
    registers_ = unloaded;
    setSweptRow(carried.drop_front(count));
    SmallVector<Value> after = sweepRow(row, reductions, carried.take_front(count));
    after.append(ahead);
    return after;
  });
  outer_.clear();
  rowScalars_.clear();
  fillRegisters();
  size_t next = 0;
  for (auto [c, chunk] : llvm::enumerate(registers_)) {
    auto isColumnSum = [&](Value value) { return nest_.columnSums.contains(value); };
    valid_ = chunk.valid;
    forEachLane(chunk, nest_.reduced, [&] {
      for (auto [i, reduction] : llvm::enumerate(reductions)) {
        graph::ReduceOp reduce = reduction;
        next = (i * registers_.size() + c) * threads_.width + lane_;
        inner_[reduce.getResult()] = asStored(reduce.getResult(), sums[next]);
      }
      storeResults(isColumnSum);
    });
  }
}

void GpuGroupEmitter::placeInSweep(Value row) {
  SmallVector<int64_t> sizes;
  for (int factor : nest_.swept)
    sizes.push_back(nest_.sizes[factor]);
  for (auto [factor, index] : llvm::zip(nest_.swept, gpu_.delinearize(row, sizes)))
    index_[factor] = index;
}

void GpuGroupEmitter::loadRegisters(llvm::function_ref<bool(const Access &)> isChosen) {
  for (Chunk &chunk : registers_) {
    valid_ = chunk.valid;
    preload(chunk, nest_.reduced, isChosen);
  }
  valid_ = {};
}

// Whether all threads of a row load the same element, another one in each row.
bool GpuGroupEmitter::isRowScalar(const Access &access) const {
  return varies(access, nest_.swept) && !varies(access, nest_.reduced);
}

// Loads the values that differ between rows: first the scalars, then the vectors of each chunk.
SmallVector<Value> GpuGroupEmitter::loadSweptRow(Value row) {
  placeInSweep(row);
  fillRegisters();
  loadRegisters([&](const Access &access) { return varies(access, nest_.swept); });
  SmallVector<Value> values;
  for (const Access &access : nest_.operands)
    if (isRowScalar(access))
      values.push_back(GroupEmitter::loadElement(access));
  for (const Chunk &chunk : registers_)
    for (const Access &access : nest_.operands)
      if (Value vector = chunk.vectors.lookup(&access))
        values.push_back(vector);
  return values;
}

void GpuGroupEmitter::setSweptRow(ValueRange values) {
  for (const Access &access : nest_.operands)
    if (isRowScalar(access)) {
      rowScalars_[&access] = values.front();
      values = values.drop_front();
    }
  for (Chunk &chunk : registers_)
    for (const Access &access : nest_.operands)
      if (chunk.width > 1 && threads_.isVector(access) && varies(access, nest_.swept)) {
        chunk.vectors[&access] = values.front();
        values = values.drop_front();
      }
}

// Computes one row from what is loaded of it, and adds its elements to the sums of their columns.
SmallVector<Value> GpuGroupEmitter::sweepRow(Value row, ArrayRef<graph::ReduceOp> reductions,
                                             ValueRange carried) {
  placeInSweep(row);
  parity_ = gpu_.delinearize(row, {nest_.size(nest_.swept), 2})[1];
  emitPasses();
  SmallVector<Value> sums(carried);
  for (auto [c, chunk] : llvm::enumerate(registers_)) {
    valid_ = chunk.valid;
    forEachLane(chunk, nest_.reduced, [&] {
      for (auto [i, reduction] : llvm::enumerate(reductions)) {
        graph::ReduceOp reduce = reduction;
        Value &sum = sums[(i * registers_.size() + c) * threads_.width + lane_];
        sum = k_.combine(reduce.getKind(), graph::elementTypeOf(reduce.getOperand()), sum,
                         valueOf(reduce.getOperand()));
      }
    });
  }
  storeRowResults();
  return sums;
}

} // namespace cleave::codegen
