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
  sums =
      gpu_.fold(k_.constant(0), k_.constant(nest_.size(nest_.swept)), 1, sums,
                [&](Value row, ValueRange carried) { return sweepRow(row, reductions, carried); });
  outer_.clear();
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

// Computes one row, and adds its elements to the sums of their columns.
SmallVector<Value> GpuGroupEmitter::sweepRow(Value row, ArrayRef<graph::ReduceOp> reductions,
                                             ValueRange carried) {
  SmallVector<int64_t> sizes;
  for (int factor : nest_.swept)
    sizes.push_back(nest_.sizes[factor]);
  for (auto [factor, index] : llvm::zip(nest_.swept, gpu_.delinearize(row, sizes)))
    index_[factor] = index;
  fillRegisters();
  for (Chunk &chunk : registers_) {
    valid_ = chunk.valid;
    preload(chunk, nest_.reduced);
  }
  valid_ = {};
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
  if (threads_.threadsPerRow > kWarp) // the next row writes the same shared memory
    gpu_.barrier();
  return sums;
}

} // namespace cleave::codegen
