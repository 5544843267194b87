// The kind Pointwise with transposed operands: each is read along the factor in which it is
// contiguous, and used along the other.
#include "passes/codegen/gpu/GpuGroupEmitter.h"

using namespace mlir;

namespace cleave::codegen {

// Threads of a block lie along the columns of a tile, in this many rows at a time.
static constexpr int kRowsAtOnce = kThreads / kGpuTile;

void GpuGroupEmitter::emitTiles() {
  gpu_.setLaunch(threads_.launch);
  SmallVector<int> factors(nest_.outer);
  factors.push_back(nest_.inner);
  SmallVector<int64_t> sizes;
  auto isTiled = [&](int factor) { return factor == nest_.inner || factor == nest_.across; };
  for (int factor : factors)
    sizes.push_back(isTiled(factor) ? llvm::divideCeil(nest_.sizes[factor], kGpuTile)
                                    : nest_.sizes[factor]);
  SmallVector<Value> block = gpu_.delinearize(gpu_.block(), sizes);
  tileStart_.resize(index_.size());
  for (auto [factor, at] : llvm::zip(factors, block))
    index_[factor] = tileStart_[factor] = isTiled(factor) ? k_.mul(at, kGpuTile) : at;
  readTiles();
  gpu_.barrier();
  SmallVector<Value> thread = gpu_.delinearize(gpu_.thread(), {kRowsAtOnce, kGpuTile});
  for (int row = 0; row < kGpuTile; row += kRowsAtOnce) {
    tile_.column = thread[1];
    tile_.row = k_.add(thread[0], k_.constant(row));
    placeInTile(nest_.inner, nest_.across, tile_.column, tile_.row);
    outer_.clear(); // they may not be computed where the element does not exist
    inner_.clear();
    k_.when(valid_, [&] {
      valid_ = {};
      emitInner(Roots(results()));
      storeResults([](Value) { return true; });
      flush();
    });
  }
}

void GpuGroupEmitter::placeInTile(int columnFactor, int rowFactor, Value column, Value row) {
  index_[columnFactor] = k_.add(tileStart_[columnFactor], column);
  index_[rowFactor] = k_.add(tileStart_[rowFactor], row);
  valid_ = gpu_.both(gpu_.isBelow(index_[columnFactor], nest_.sizes[columnFactor]),
                     gpu_.isBelow(index_[rowFactor], nest_.sizes[rowFactor]));
}

// Rows of a tile in shared memory are one element longer, so that neither direction meets one bank
// again.
void GpuGroupEmitter::readTiles() {
  SmallVector<Value> thread = gpu_.delinearize(gpu_.thread(), {kRowsAtOnce, kGpuTile});
  llvm::DenseMap<const Access *, Value> arrays;
  for (const Access &access : nest_.operands)
    if (access.strides[nest_.across] == 1 && access.strides[nest_.inner] != 1 && arrays.size() < 4)
      arrays[&access] = gpu_.shared(kGpuTile * (kGpuTile + 1), access.element);
  for (const Access &access : nest_.operands) {
    Value array = arrays.lookup(&access);
    if (!array)
      continue;
    for (int row = 0; row < kGpuTile; row += kRowsAtOnce) {
      Value inTile = k_.add(thread[0], k_.constant(row));
      placeInTile(nest_.across, nest_.inner, thread[1], inTile);
      k_.when(valid_, [&] {
        Value element = k_.load(access.argument, addressOf(access), access.element);
        k_.storeTo(element, array, k_.add(k_.mul(inTile, kGpuTile + 1), thread[1]));
      });
    }
  }
  tile_.arrays = std::move(arrays);
}

} // namespace cleave::codegen
