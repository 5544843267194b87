// The kind Columns: warps take turns at the rows and add their sums through shared memory.
#include "passes/codegen/gpu/GpuGroupEmitter.h"

using namespace mlir;

namespace cleave::codegen {

void GpuGroupEmitter::emitColumns() {
  planPasses();
  gpu_.setLaunch(threads_.launch);
  SmallVector<int64_t> sizes = nest_.outerSizes();
  sizes.push_back(llvm::divideCeil(threads_.chunks, kWarp));
  SmallVector<Value> block = gpu_.delinearize(gpu_.block(), sizes);
  SmallVector<Value> thread = gpu_.delinearize(gpu_.thread(), {threads_.slices, kWarp});
  for (auto [factor, index] : llvm::zip(nest_.outer, block))
    index_[factor] = index;
  Value number = k_.add(k_.mul(block.back(), kWarp), thread[1]);
  Value valid = threads_.chunks % kWarp ? gpu_.isBelow(number, threads_.chunks) : Value();
  Chunk chunk;
  chunk.width = threads_.width;
  chunk.first = {k_.mul(number, threads_.width)};
  emitOuter(passes_.front().roots);
  SmallVector<Value> sums = sumColumns(chunk, thread[0], valid), shared;
  if (threads_.slices > 1) {
    for (auto [i, sum] : llvm::enumerate(sums)) {
      shared.push_back(gpu_.shared(int64_t(threads_.slices) * kWarp, sum.getType()));
      k_.storeTo(sum, shared.back(), k_.add(k_.mul(thread[0], kWarp), thread[1]));
    }
    gpu_.barrier();
    valid = gpu_.both(valid, gpu_.isBelow(thread[0], 1));
  }
  auto finish = [&] {
    storeColumns(chunk, threads_.slices > 1 ? combineSlices(shared, thread[1]) : sums);
  };
  valid ? k_.when(valid, finish) : finish();
}

// The sums of the rows of one slice; a thread without columns has no rows.
SmallVector<Value> GpuGroupEmitter::sumColumns(const Chunk &chunk, Value slice, Value valid) {
  SmallVector<Value> sums;
  for (Value none : neutralSums(passes_.front()))
    sums.append(threads_.width, none);
  int64_t rows = nest_.size(nest_.reduced);
  int64_t rest = rows % (int64_t(threads_.unroll) * threads_.slices);
  foldRows(chunk, slice, valid, 0, rows - rest, threads_.unroll, sums);
  foldRows(chunk, slice, valid, rows - rest, rows, 1, sums);
  return sums;
}

void GpuGroupEmitter::foldRows(const Chunk &chunk, Value slice, Value valid, int64_t from,
                               int64_t to, int unroll, SmallVector<Value> &sums) {
  if (from == to)
    return;
  Value end = k_.constant(to);
  if (valid)
    end = gpu_.choose(valid, end, k_.constant(0));
  int64_t apart = threads_.slices;
  sums = gpu_.fold(k_.add(slice, k_.constant(from)), end, unroll * apart, sums,
                   [&](Value first, ValueRange carried) {
                     SmallVector<Value> inside(carried), rows;
                     SmallVector<Chunk> chunks(unroll, chunk);
                     for (auto [i, chunkOfRow] : llvm::enumerate(chunks)) {
                       rows.push_back(k_.add(first, k_.constant(i * apart)));
                       placeInRow(rows.back());
                       preload(chunkOfRow, nest_.inner);
                       preloadScalars(chunkOfRow);
                     }
                     for (auto [row, chunkOfRow] : llvm::zip(rows, chunks)) {
                       placeInRow(row);
                       addRow(chunkOfRow, inside);
                     }
                     return inside;
                   });
}

void GpuGroupEmitter::placeInRow(Value row) {
  SmallVector<int64_t> sizes;
  for (int factor : nest_.reduced)
    sizes.push_back(nest_.sizes[factor]);
  for (auto [factor, index] : llvm::zip(nest_.reduced, gpu_.delinearize(row, sizes)))
    index_[factor] = index;
}

void GpuGroupEmitter::addRow(Chunk &chunk, SmallVector<Value> &sums) {
  const Pass &pass = passes_.front();
  auto isPerRow = [&](Value value) { return hasRows(value); };
  Roots roots = resultsThat(isPerRow);
  for (graph::ReduceOp reduce : pass.reductions)
    roots.push_back(reduce.getOperand());
  forEachLane(chunk, nest_.inner, [&] {
    emitInner(roots);
    for (auto [i, reduce] : llvm::enumerate(pass.reductions)) {
      graph::ReduceOp op = reduce;
      Value &sum = sums[i * threads_.width + lane_];
      sum = k_.combine(op.getKind(), graph::elementTypeOf(op.getOperand()), sum,
                       valueOf(op.getOperand()));
    }
    storeResults(isPerRow);
  });
}

// Adds the slices of one column in their order.
SmallVector<Value> GpuGroupEmitter::combineSlices(ArrayRef<Value> shared, Value column) {
  SmallVector<Value> sums;
  for (auto [i, array] : llvm::enumerate(shared)) {
    graph::ReduceOp reduce = passes_.front().reductions[i / threads_.width];
    Type element = graph::elementTypeOf(reduce.getOperand());
    Value sum;
    for (int slice = 0; slice < threads_.slices; ++slice) {
      Value other =
          k_.loadFrom(array, k_.add(column, k_.constant(slice * kWarp)), k_.wideType(element));
      sum = sum ? k_.combine(reduce.getKind(), element, sum, other) : other;
    }
    sums.push_back(sum);
  }
  return sums;
}

void GpuGroupEmitter::storeColumns(Chunk &chunk, ArrayRef<Value> sums) {
  auto isWhole = [&](Value value) { return !hasRows(value); };
  Roots whole = resultsThat(isWhole);
  forEachLane(chunk, nest_.inner, [&] {
    for (auto [i, reduce] : llvm::enumerate(passes_.front().reductions)) {
      graph::ReduceOp op = reduce;
      inner_[op.getResult()] = asStored(op.getResult(), sums[i * threads_.width + lane_]);
    }
    emitInner(whole);
    storeResults(isWhole);
  });
}

} // namespace cleave::codegen
