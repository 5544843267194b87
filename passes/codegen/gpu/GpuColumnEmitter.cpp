// The kind Columns: slices of a block take turns at the rows and add their sums by shuffles and
// through shared memory.
#include "passes/codegen/gpu/GpuGroupEmitter.h"

using namespace mlir;

namespace cleave::codegen {

void GpuGroupEmitter::emitColumns() {
  planPasses();
  gpu_.setLaunch(threads_.launch);
  SmallVector<int64_t> sizes = nest_.outerSizes();
  sizes.push_back(llvm::divideCeil(threads_.chunks, threads_.lanes));
  SmallVector<Value> block = gpu_.delinearize(gpu_.block(), sizes);
  SmallVector<Value> thread = gpu_.delinearize(gpu_.thread(), {threads_.slices, threads_.lanes});
  for (auto [factor, index] : llvm::zip(nest_.outer, block))
    index_[factor] = index;
  Value number = k_.add(k_.mul(block.back(), threads_.lanes), thread[1]);
  Value valid = threads_.chunks % threads_.lanes ? gpu_.isBelow(number, threads_.chunks) : Value();
  Chunk chunk;
  chunk.width = threads_.width;
  chunk.first = {k_.mul(number, threads_.width)};
  emitOuter(passes_.front().roots);
  SmallVector<Value> shared = shareSums(sumColumns(chunk, thread[0], valid));
  Chunk column;
  Value first = k_.mul(block.back(), threads_.columns());
  column.first = {k_.add(first, gpu_.thread())};
  Value isColumn = gpu_.isBelow(gpu_.thread(), threads_.columns());
  if (threads_.chunks % threads_.lanes)
    isColumn = gpu_.both(isColumn, gpu_.isBelow(column.first[0], nest_.sizes[nest_.inner]));
  k_.when(isColumn, [&] { storeColumn(column, combineWarps(shared, gpu_.thread())); });
}

// The sums of the rows of one slice; a thread without columns has no rows. The last rows, too few
// for a whole trip, are read in one shorter trip, in which the last slices may have no row.
SmallVector<Value> GpuGroupEmitter::sumColumns(const Chunk &chunk, Value slice, Value valid) {
  SmallVector<Value> sums;
  for (Value none : neutralSums(passes_.front()))
    sums.append(threads_.width, none);
  const int64_t rows = nest_.size(nest_.reduced), apart = threads_.slices;
  const int64_t rest = rows % (threads_.unroll * apart);
  foldRows(chunk, slice, valid, rows - rest, sums);
  if (rest == 0)
    return sums;
  const int64_t count = llvm::divideCeil(rest, apart);
  Value first = k_.add(slice, k_.constant(rows - rest));
  SmallVector<Chunk> last(count, chunk);
  for (Chunk &row : last)
    row.valid = valid;
  if (rest % apart != 0)
    last.back().valid =
        gpu_.both(valid, gpu_.isBelow(k_.add(first, k_.constant((count - 1) * apart)), rows));
  loadRows(last, first);
  return addRows(last, first, sums);
}

// The first `rows`, of which a trip takes `unroll` per slice. A trip loads the rows of the next one
// before it adds its own.
void GpuGroupEmitter::foldRows(const Chunk &chunk, Value slice, Value valid, int64_t rows,
                               SmallVector<Value> &sums) {
  if (rows == 0)
    return;
  const int64_t trip = int64_t(threads_.unroll) * threads_.slices;
  Value end = k_.constant(rows);
  if (valid)
    end = gpu_.choose(valid, end, k_.constant(0));
  // The loaded values of a trip's rows.
  auto load = [&](Value first, Value condition) {
    return gpu_.guardedValues(condition, [&] {
      SmallVector<Chunk> ahead(threads_.unroll, chunk);
      loadRows(ahead, first);
      return loadedOf(ahead);
    });
  };
  SmallVector<Value> carried = sums;
  carried.append(load(slice, valid));
  carried = gpu_.fold(slice, end, trip, carried, [&](Value first, ValueRange inside) {
    Value next = k_.add(first, k_.constant(trip));
    SmallVector<Value> ahead = load(next, gpu_.isBelow(next, rows));
    SmallVector<Chunk> now(threads_.unroll, chunk);
    setLoaded(now, inside.drop_front(sums.size()));
    SmallVector<Value> after = addRows(now, first, inside.take_front(sums.size()));
    after.append(ahead);
    return after;
  });
  sums.assign(carried.begin(), carried.begin() + sums.size());
}

void GpuGroupEmitter::loadRows(MutableArrayRef<Chunk> rows, Value first) {
  for (auto [i, row] : llvm::enumerate(rows)) {
    valid_ = row.valid;
    placeInRow(k_.add(first, k_.constant(i * threads_.slices)));
    preload(row, nest_.inner);
    preloadScalars(row);
  }
  valid_ = {};
}

SmallVector<Value> GpuGroupEmitter::addRows(MutableArrayRef<Chunk> rows, Value first,
                                            ValueRange carried) {
  SmallVector<Value> sums(carried);
  for (auto [i, row] : llvm::enumerate(rows)) {
    valid_ = row.valid;
    placeInRow(k_.add(first, k_.constant(i * threads_.slices)));
    addRow(row, sums);
  }
  valid_ = {};
  return sums;
}

bool GpuGroupEmitter::isLoadedAsScalar(const Access &access) const {
  return (threads_.width == 1 || access.strides[nest_.inner] == 0) && varies(access, nest_.reduced);
}

void GpuGroupEmitter::preloadScalars(Chunk &chunk) {
  for (const Access &access : nest_.operands)
    if (isLoadedAsScalar(access))
      chunk.scalars[&access] = loadElement(access);
}

SmallVector<Value> GpuGroupEmitter::loadedOf(ArrayRef<Chunk> rows) {
  SmallVector<Value> values;
  for (const Chunk &row : rows)
    for (const Access &access : nest_.operands)
      if (isLoadedAsScalar(access))
        values.push_back(row.scalars.lookup(&access));
      else if (threads_.isVector(access) && varies(access, nest_.reduced))
        values.push_back(row.vectors.lookup(&access));
  return values;
}

void GpuGroupEmitter::setLoaded(MutableArrayRef<Chunk> rows, ValueRange values) {
  for (Chunk &row : rows)
    for (const Access &access : nest_.operands)
      if (isLoadedAsScalar(access)) {
        row.scalars[&access] = values.front();
        values = values.drop_front();
      } else if (threads_.isVector(access) && varies(access, nest_.reduced)) {
        row.vectors[&access] = values.front();
        values = values.drop_front();
      }
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
    const SmallVector<Value> none = neutralSums(pass);
    for (auto [i, reduce] : llvm::enumerate(pass.reductions)) {
      graph::ReduceOp op = reduce;
      Value &sum = sums[i * threads_.width + lane_];
      Value value = gpu_.choose(chunk.valid, valueOf(op.getOperand()), none[i]);
      sum = k_.combine(op.getKind(), graph::elementTypeOf(op.getOperand()), sum, value);
    }
    storeResults(isPerRow);
  });
}

// Adds the slices within each warp, and writes the warp's sums of columns to shared memory. Returns
// an array per reduction, with the sums of one warp after the other.
SmallVector<Value> GpuGroupEmitter::shareSums(SmallVector<Value> sums) {
  const int warps = threads_.launch.threads / kWarp;
  SmallVector<Value> arrays;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    graph::ReduceOp reduce = passes_.front().reductions[i / threads_.width];
    for (int mask = threads_.lanes; mask < kWarp; mask *= 2)
      sum = k_.combine(reduce.getKind(), graph::elementTypeOf(reduce.getOperand()), sum,
                       gpu_.shuffle(sum, mask));
    if (i % threads_.width == 0)
      arrays.push_back(gpu_.shared(warps * threads_.columns(), sum.getType()));
  }
  SmallVector<Value> at = gpu_.delinearize(gpu_.thread(), {warps, kWarp});
  auto store = [&] {
    Value first = k_.add(k_.mul(at[0], threads_.columns()), k_.mul(at[1], threads_.width));
    for (auto [i, sum] : llvm::enumerate(sums))
      k_.storeTo(sum, arrays[i / threads_.width], k_.add(first, k_.constant(i % threads_.width)));
  };
  threads_.lanes < kWarp ? k_.when(gpu_.isBelow(at[1], threads_.lanes), store) : store();
  gpu_.barrier();
  return arrays;
}

// The sums of a column of the block over all warps, in their order.
SmallVector<Value> GpuGroupEmitter::combineWarps(ArrayRef<Value> shared, Value column) {
  SmallVector<Value> sums;
  for (auto [array, reduction] : llvm::zip(shared, passes_.front().reductions)) {
    graph::ReduceOp reduce = reduction;
    Type element = graph::elementTypeOf(reduce.getOperand());
    Value sum;
    for (int warp = 0; warp < threads_.launch.threads / kWarp; ++warp) {
      Value at = k_.add(column, k_.constant(warp * threads_.columns()));
      Value other = k_.loadFrom(array, at, k_.wideType(element));
      sum = sum ? k_.combine(reduce.getKind(), element, sum, other) : other;
    }
    sums.push_back(sum);
  }
  return sums;
}

void GpuGroupEmitter::storeColumn(Chunk &column, ArrayRef<Value> sums) {
  auto isWhole = [&](Value value) { return !hasRows(value); };
  Roots whole = resultsThat(isWhole);
  forEachLane(column, nest_.inner, [&] {
    for (auto [sum, reduction] : llvm::zip(sums, passes_.front().reductions)) {
      graph::ReduceOp reduce = reduction;
      inner_[reduce.getResult()] = asStored(reduce.getResult(), sum);
    }
    emitInner(whole);
    storeResults(isWhole);
  });
}

} // namespace cleave::codegen
