// Chunks and their lanes, and the kinds Pointwise and Rows; Columns is in GpuColumnEmitter.cpp.
#include "passes/codegen/gpu/GpuGroupEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cleave::codegen {

static int64_t sumBytes(graph::FusionOp fusion) {
  int64_t bytes = 0;
  for (auto reduce : fusion.getBody().front().getOps<graph::ReduceOp>())
    bytes += std::max(32u, graph::elementTypeOf(reduce.getResult()).getIntOrFloatBitWidth()) / 8;
  return bytes;
}

GpuGroupEmitter::GpuGroupEmitter(GpuKernel &kernel, graph::FusionOp fusion, const GroupNest &nest)
    : GroupEmitter(kernel, fusion, nest), gpu_(kernel),
      threads_(gpuNestOf(nest, sumBytes(fusion))) {
  findShortValues();
}

// -- elements -------------------------------------------------------------------------------------

void GpuGroupEmitter::findShortValues() {
  auto isShort = [&](Value value) {
    Type element = graph::elementTypeOf(value);
    if (!isa<FloatType>(element)) // a comparison needs the exact number
      return false;
    if (element.getIntOrFloatBitWidth() == 16)
      return true;
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      return user->getNumResults() == 1 && !isa<graph::ReduceOp>(user) &&
             short_.contains(user->getResult(0));
    });
  };
  for (Operation &op : llvm::reverse(body_.without_terminator()))
    if (isShort(op.getResult(0)))
      short_.insert(op.getResult(0));
}

static void setFlags(Operation *op, arith::FastMathFlags flags) {
  op->setAttr("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), flags));
}

Value GpuGroupEmitter::emitOp(Operation *op) {
  OpBuilder &b = k_.builder();
  Block *block = b.getInsertionBlock();
  Block::iterator end = b.getInsertionPoint();
  Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
  Value result = GroupEmitter::emitOp(op);
  if (!short_.contains(op->getResult(0)))
    return result;
  for (Operation &emitted :
       llvm::make_range(before ? std::next(before->getIterator()) : block->begin(), end))
    if (isa<arith::DivFOp, math::ExpOp, math::TanhOp, math::ErfOp>(emitted))
      setFlags(&emitted, arith::FastMathFlags::afn);
    else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(emitted))
      setFlags(&emitted, arith::FastMathFlags::contract);
  return result;
}

// -- chunks ---------------------------------------------------------------------------------------

void GpuGroupEmitter::forEachLane(Chunk &chunk, ArrayRef<int> factors,
                                  llvm::function_ref<void()> body) {
  chunk_ = &chunk;
  chunk.lanes.resize(chunk.width);
  for (lane_ = 0; lane_ < chunk.width; ++lane_) {
    for (auto [factor, first] : llvm::zip(factors, chunk.first))
      index_[factor] =
          factor == threads_.inner && lane_ > 0 ? k_.add(first, k_.constant(lane_)) : first;
    std::swap(inner_, chunk.lanes[lane_]);
    body();
    std::swap(inner_, chunk.lanes[lane_]);
  }
  lane_ = 0;
  flush();
  chunk_ = nullptr;
}

void GpuGroupEmitter::preload(Chunk &chunk, ArrayRef<int> factors,
                              llvm::function_ref<bool(const Access &)> isChosen) {
  chunk_ = &chunk;
  for (auto [factor, first] : llvm::zip(factors, chunk.first))
    index_[factor] = first;
  for (const Access &access : nest_.operands)
    if (isVector(access) && (!isChosen || isChosen(access)))
      chunk.vectors[&access] = loadVector(access);
  chunk_ = nullptr;
}

bool GpuGroupEmitter::varies(const Access &access, ArrayRef<int> factors) {
  return llvm::any_of(factors, [&](int factor) { return access.strides[factor] != 0; });
}

bool GpuGroupEmitter::isVector(const Access &access) const {
  return chunk_ && chunk_->width > 1 && threads_.isVector(access);
}

Value GpuGroupEmitter::guarded(llvm::function_ref<Value()> load) {
  return gpu_.guarded(valid_, load);
}

Value GpuGroupEmitter::loadElement(const Access &access) {
  if (Value array = tile_.arrays.lookup(&access)) {
    Value at = k_.add(k_.mul(tile_.column, kGpuTile + 1), tile_.row);
    return k_.loadFrom(array, at, access.element);
  }
  if (Value scalar = chunk_ ? chunk_->scalars.lookup(&access) : rowScalars_.lookup(&access))
    return scalar;
  if (!isVector(access))
    return guarded([&] { return GroupEmitter::loadElement(access); });
  Value &vector = chunk_->vectors[&access];
  if (!vector) {
    assert(lane_ == 0 && "the first lane loads for all");
    vector = loadVector(access);
  }
  return gpu_.elementOf(vector, lane_, access.element);
}

Value GpuGroupEmitter::loadVector(const Access &access) {
  return guarded([&] {
    return gpu_.loadVector(access.argument, addressOf(access), access.element, threads_.width);
  });
}

Value GpuGroupEmitter::isOwner(const Access &access) {
  Value owner;
  auto first = [&](int factor) {
    if (factor >= 0 && access.strides[factor] == 0 && nest_.sizes[factor] > 1)
      owner = gpu_.both(owner, gpu_.isBelow(index_[factor], 1));
  };
  llvm::for_each(nest_.outer, first);
  if (nest_.kind != GroupNest::Kind::Rows)
    first(nest_.inner);
  return owner;
}

void GpuGroupEmitter::storeElement(Value scalar, const Access &access) {
  if (isVector(access) && lane_ > 0) {
    auto mine = llvm::find_if(pending_, [&](Pending &p) { return p.access == &access; });
    return mine->elements.push_back(scalar);
  }
  pending_.push_back({&access, addressOf(access), isOwner(access), {scalar}});
}

void GpuGroupEmitter::flush() {
  Value valid = chunk_ ? chunk_->valid : valid_;
  for (Pending &store : pending_) {
    auto build = [&] {
      if (store.elements.size() > 1)
        gpu_.storeVector(store.elements, store.access->argument, store.address);
      else
        k_.store(store.elements.front(), store.access->argument, store.address);
    };
    if (Value condition = gpu_.both(valid, store.condition))
      k_.when(condition, build);
    else
      build();
  }
  pending_.clear();
}

// -- Pointwise ------------------------------------------------------------------------------------

void GpuGroupEmitter::emitPointwise() {
  if (nest_.across >= 0)
    return emitTiles();
  Roots all(results());
  SmallVector<int> factors(nest_.outer);
  SmallVector<int64_t> sizes;
  if (nest_.inner >= 0)
    factors.push_back(nest_.inner);
  for (int factor : factors)
    sizes.push_back(factor == nest_.inner ? llvm::divideCeil(nest_.sizes[factor], threads_.width)
                                          : nest_.sizes[factor]);
  auto emitChunkAt = [&](SmallVector<Value> at) {
    loops_ = k_.builder().getInsertionBlock()->getParentOp();
    Chunk chunk;
    chunk.width = threads_.width;
    chunk.first = std::move(at);
    for (auto [factor, first] : llvm::zip(factors, chunk.first)) {
      first = factor == nest_.inner ? k_.mul(first, threads_.width) : first;
      index_[factor] = first;
    }
    Value isWhole; // null: always
    if (threads_.tail > 0)
      isWhole = gpu_.isBelow(chunk.first.back(), nest_.sizes[nest_.inner] - threads_.tail);
    valid_ = isWhole;
    preload(chunk, factors); // in flight while the values of the row are loaded and computed
    valid_ = {};
    emitOuter(all);
    auto emitChunk = [&] {
      forEachLane(chunk, factors, [&] {
        emitInner(all);
        storeInnerResults();
        if (lane_ == 0)
          storeOuterResults();
      });
      return SmallVector<Value>();
    };
    if (!isWhole)
      return void(emitChunk());
    gpu_.either(isWhole, {}, emitChunk, [&] {
      emitTail(chunk.first.back());
      return SmallVector<Value>();
    });
  };
  if (!threads_.staysInColumns)
    return k_.points(llvm::product_of(sizes),
                     [&](Value point) { emitChunkAt(k_.delinearize(point, sizes)); });
  const int64_t columns = sizes.pop_back_val();
  gpu_.points(llvm::product_of(sizes), columns, [&](Value row, Value column) {
    SmallVector<Value> at = k_.delinearize(row, sizes);
    at.push_back(column);
    emitChunkAt(std::move(at));
  });
}

void GpuGroupEmitter::emitTail(Value first) {
  k_.loop(first, k_.constant(nest_.sizes[nest_.inner]), 1, [&](Value index) {
    index_[nest_.inner] = index;
    emitInner(Roots(results()));
    storeInnerResults();
    flush();
  });
}

// -- Rows -----------------------------------------------------------------------------------------

void GpuGroupEmitter::placeRow() {
  gpu_.setLaunch(threads_.launch);
  int64_t rows = nest_.size(nest_.outer);
  Value thread = gpu_.thread(), row = gpu_.block();
  inRow_ = thread;
  if (threads_.rowsPerBlock > 1) {
    SmallVector<Value> at =
        gpu_.delinearize(thread, {threads_.rowsPerBlock, threads_.threadsPerRow});
    inRow_ = at[1];
    row = k_.add(k_.mul(row, threads_.rowsPerBlock), at[0]);
  }
  if (rows % threads_.rowsPerBlock != 0)
    hasRow_ = gpu_.isBelow(row, rows);
  SmallVector<int64_t> sizes = nest_.outerSizes();
  for (auto [factor, index] : llvm::zip(nest_.outer, k_.delinearize(row, sizes)))
    index_[factor] = index;
}

// The chunk with this number, all reduced factors counted together.
GpuGroupEmitter::Chunk GpuGroupEmitter::chunkOf(Value number) {
  Chunk chunk;
  chunk.width = threads_.width;
  SmallVector<int64_t> sizes;
  for (int factor : nest_.reduced)
    sizes.push_back(nest_.sizes[factor]);
  if (!sizes.empty())
    sizes.back() /= threads_.width;
  chunk.first = k_.delinearize(number, sizes);
  if (!sizes.empty())
    chunk.first.back() = k_.mul(chunk.first.back(), threads_.width);
  return chunk;
}

GpuGroupEmitter::Chunk GpuGroupEmitter::tailOf(Value number) {
  Chunk chunk;
  SmallVector<int64_t> sizes;
  for (int factor : nest_.reduced)
    sizes.push_back(nest_.sizes[factor]);
  Value whole = k_.constant(sizes.back() - threads_.tail);
  sizes.back() = threads_.tail;
  chunk.first = k_.delinearize(number, sizes);
  chunk.first.back() = k_.add(chunk.first.back(), whole);
  return chunk;
}

GpuGroupEmitter::Chunk GpuGroupEmitter::inRegister(int64_t i, int64_t count,
                                                   llvm::function_ref<Chunk(Value)> make) {
  int64_t before = i * threads_.threadsPerRow;
  Value number = k_.add(inRow_, k_.constant(before));
  Chunk chunk = make(number);
  if (before + threads_.threadsPerRow > count)
    chunk.valid = gpu_.isBelow(number, count);
  chunk.valid = gpu_.both(hasRow_, chunk.valid);
  return chunk;
}

SmallVector<Value> GpuGroupEmitter::neutralSums(const Pass &pass) {
  SmallVector<Value> sums;
  for (graph::ReduceOp reduce : pass.reductions)
    sums.push_back(
        k_.neutral(reduce.getKind(), k_.wideType(graph::elementTypeOf(reduce.getOperand()))));
  return sums;
}

void GpuGroupEmitter::accumulate(const Pass &pass, Chunk &chunk, SmallVector<Value> &sums) {
  valid_ = chunk.valid;
  forEachLane(chunk, nest_.reduced, [&] {
    emitInner(pass.roots);
    for (auto [sum, reduce, none] : llvm::zip(sums, pass.reductions, neutralSums(pass))) {
      graph::ReduceOp op = reduce;
      Value value = gpu_.choose(chunk.valid, valueOf(op.getOperand()), none);
      sum = k_.combine(op.getKind(), graph::elementTypeOf(op.getOperand()), sum, value);
    }
    if (&pass == &passes_.back())
      storeInnerResults();
  });
  valid_ = hasRow_;
}

SmallVector<Value> GpuGroupEmitter::emitPass(const Pass &pass) {
  SmallVector<Value> sums = neutralSums(pass);
  if (threads_.inRegisters) {
    for (Chunk &chunk : registers_)
      accumulate(pass, chunk, sums);
    return sums;
  }
  auto chunk = [&](Value number) { return chunkOf(number); };
  auto tail = [&](Value number) { return tailOf(number); };
  int64_t rest = threads_.unroll == 1
                     ? 0
                     : threads_.chunks % (int64_t(threads_.unroll) * threads_.threadsPerRow);
  foldChunks(pass, 0, threads_.chunks - rest, threads_.unroll, chunk, sums);
  foldChunks(pass, threads_.chunks - rest, threads_.chunks, 1, chunk, sums);
  foldChunks(pass, 0, threads_.tails, 1, tail, sums);
  return sums;
}

void GpuGroupEmitter::foldChunks(const Pass &pass, int64_t from, int64_t to, int unroll,
                                 llvm::function_ref<Chunk(Value)> make, SmallVector<Value> &sums) {
  if (from == to)
    return;
  Value end = k_.constant(to);
  if (hasRow_)
    end = gpu_.choose(hasRow_, end, k_.constant(0));
  int64_t apart = threads_.threadsPerRow;
  sums = gpu_.fold(k_.add(inRow_, k_.constant(from)), end, unroll * apart, sums,
                   [&](Value number, ValueRange carried) {
                     SmallVector<Value> inside(carried);
                     SmallVector<Chunk> chunks;
                     for (int i = 0; i < unroll; ++i)
                       chunks.push_back(make(k_.add(number, k_.constant(i * apart))));
                     for (Chunk &chunk : chunks)
                       preload(chunk, nest_.reduced);
                     for (Chunk &chunk : chunks)
                       accumulate(pass, chunk, inside);
                     return inside;
                   });
}

Value GpuGroupEmitter::butterfly(graph::ReduceOp reduce, Value value, int lanes) {
  for (int mask = lanes / 2; mask > 0; mask /= 2)
    value = k_.combine(reduce.getKind(), graph::elementTypeOf(reduce.getOperand()), value,
                       gpu_.shuffle(value, mask));
  return value;
}

void GpuGroupEmitter::exchange(const Pass &pass, SmallVector<Value> &sums) {
  for (auto [reduce, sum] : llvm::zip(pass.reductions, sums))
    sum = butterfly(reduce, sum, std::min(threads_.threadsPerRow, kWarp));
  if (threads_.threadsPerRow > kWarp && !sums.empty())
    exchangeWarps(pass, sums);
}

// Passes use separate shared memory, and so do neighbouring rows of a sweep, so that one barrier is
// enough: after it, all threads have read what the row before the last one wrote.
void GpuGroupEmitter::exchangeWarps(const Pass &pass, SmallVector<Value> &sums) {
  int warps = threads_.threadsPerRow / kWarp;
  SmallVector<Value> at =
      gpu_.delinearize(gpu_.thread(), {static_cast<int64_t>(threads_.rowsPerBlock) * warps, kWarp});
  SmallVector<Value> arrays;
  const int64_t slots = int64_t(threads_.rowsPerBlock) * warps;
  for (Value sum : sums)
    arrays.push_back(gpu_.shared(parity_ ? 2 * slots : slots, sum.getType()));
  auto slotOf = [&](Value number) {
    return parity_ ? k_.add(k_.mul(parity_, slots), number) : number;
  };
  k_.when(gpu_.isBelow(at[1], 1), [&] {
    for (auto [array, sum] : llvm::zip(arrays, sums))
      k_.storeTo(sum, array, slotOf(at[0]));
  });
  gpu_.barrier();
  Value group = gpu_.delinearize(at[0], {threads_.rowsPerBlock, warps})[0];
  Value lane = gpu_.delinearize(at[1], {kWarp / warps, warps})[1];
  Value slot = slotOf(k_.add(k_.mul(group, warps), lane));
  for (auto [reduce, array, sum] : llvm::zip(pass.reductions, arrays, sums))
    sum = butterfly(reduce, k_.loadFrom(array, slot, sum.getType()), warps);
}

void GpuGroupEmitter::fillRegisters() {
  registers_.clear();
  for (int64_t i = 0; i < threads_.chunksPerThread(); ++i)
    registers_.push_back(
        inRegister(i, threads_.chunks, [&](Value number) { return chunkOf(number); }));
  for (int64_t i = 0; i < threads_.tailsPerThread(); ++i)
    registers_.push_back(
        inRegister(i, threads_.tails, [&](Value number) { return tailOf(number); }));
}

void GpuGroupEmitter::emitPasses() {
  for (const Pass &pass : passes_) {
    emitOuter(pass.roots);
    SmallVector<Value> sums = emitPass(pass);
    exchange(pass, sums);
    for (auto [reduce, sum] : llvm::zip(pass.reductions, sums)) {
      graph::ReduceOp op = reduce;
      outer_[op.getResult()] = asStored(op.getResult(), sum);
    }
  }
  emitOuter(resultsThat([&](Value value) { return !hasInner(value); }));
}

void GpuGroupEmitter::emitRows() {
  if (!nest_.columnSums.empty())
    return emitSweep();
  planPasses();
  placeRow();
  if (threads_.inRegisters)
    fillRegisters();
  valid_ = hasRow_;
  emitPasses();
  storeRowResults();
}

void GpuGroupEmitter::storeRowResults() {
  auto isOperand = [&](const Access &result) {
    return llvm::any_of(nest_.operands,
                        [&](const Access &each) { return each.argument == result.argument; });
  };
  const bool isInPlace = llvm::any_of(llvm::zip(results(), nest_.results), [&](auto pair) {
    auto [value, access] = pair;
    return !hasInner(value) && isOperand(access);
  });
  if (isInPlace) // other threads of the row may still read the operand
    gpu_.barrier();
  valid_ = gpu_.both(hasRow_, gpu_.isBelow(inRow_, 1));
  storeOuterResults();
  flush();
  valid_ = {};
}

} // namespace cleave::codegen
