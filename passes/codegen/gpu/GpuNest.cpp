// Chooses the width of accesses, the threads of a row, and the slices of columns.
#include "passes/codegen/gpu/GpuNest.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

constexpr int64_t kAccessBytes = 16;    // the widest access of a thread
constexpr int64_t kLineBytes = 128;     // the fewest that the lanes of a column kernel read at once
constexpr int64_t kMostRowBytes = 64;   // of a row, per thread of a column kernel
constexpr int64_t kMostSums = 32;       // accumulators per thread, in words of 4 bytes
constexpr int64_t kFewBlocks = 132;     // fewer leave multiprocessors idle
constexpr int64_t kMostWidth = 8;       // elements; more cost too many registers
constexpr int64_t kRegisterValues = 32; // per thread, of all operands of a row
constexpr int64_t kMostPerThread = 16;  // elements of a row
constexpr int64_t kBlockThreads = 128;  // the smallest block of short rows
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kLoopThreads = 512; // of column kernels, and of long rows read several times
constexpr int64_t kSweepThreads =
    512; // per multiprocessor, of sweeps; more leave too few registers
constexpr int64_t kColumnThreads = 1024;  // per multiprocessor, of column kernels with large blocks
constexpr int64_t kManyThreads = 1 << 17; // of all blocks; keep a GPU's memory busy
constexpr int64_t kSharedBytes = 32 << 10;
constexpr int64_t kBytesInFlight = 64; // per thread, wanted in loops
constexpr int64_t kMostUnroll = 16;

int64_t bytesOf(const Access &access) {
  return std::max<int64_t>(1, access.element.getIntOrFloatBitWidth() / 8);
}

class GpuNestBuilder {
public:
  GpuNestBuilder(const GroupNest &nest, int64_t sumBytes) : nest_(nest), sumBytes_(sumBytes) {}

  GpuNest build() {
    switch (nest_.kind) {
    case GroupNest::Kind::Pointwise:
      choosePointwise();
      break;
    case GroupNest::Kind::Rows:
      chooseRows();
      break;
    case GroupNest::Kind::Columns:
      chooseColumns();
      break;
    }
    return gpu_;
  }

private:
  void forEachAccess(llvm::function_ref<void(const Access &)> body) {
    llvm::for_each(nest_.operands, body);
    llvm::for_each(nest_.results, body);
  }

  // The most elements of which an access takes at most `bytes`, such that some access is a vector.
  // Without a tail they divide the factor's size.
  void chooseWidth(int factor, int64_t bytes, bool hasTail) {
    gpu_.inner = factor;
    if (factor < 0 || nest_.sizes[factor] == 0)
      return;
    const int64_t smallest = smallestBytes(), size = nest_.sizes[factor];
    int64_t width = smallest ? std::clamp<int64_t>(bytes / smallest, 1, kMostWidth) : 1;
    while (width > 1 && !isWorth(width, hasTail ? size - size % width : size))
      width /= 2;
    gpu_.width = static_cast<int>(width);
    gpu_.tail = size % width;
  }

  // The bytes of the smallest element among the accesses along the inner factor; 0 without any.
  int64_t smallestBytes() {
    int64_t smallest = 0;
    forEachAccess([&](const Access &access) {
      if (access.strides[gpu_.inner] == 1)
        smallest = smallest ? std::min(smallest, bytesOf(access)) : bytesOf(access);
    });
    return smallest;
  }

  // Whether accesses of this width cover `size` elements, and some access is a vector.
  bool isWorth(int64_t width, int64_t size) {
    bool isVector = false;
    forEachAccess([&](const Access &access) { isVector |= gpu_.isVector(access, width); });
    return size > 0 && size % width == 0 && isVector;
  }

  // Chooses the number of accesses that bring kBytesInFlight per thread, counting the operands with
  // the rows and columns of the loop.
  void chooseUnroll() {
    gpu_.unroll = static_cast<int>(
        std::clamp<int64_t>(kBytesInFlight / std::max<int64_t>(operandBytes(), 1), 1, kMostUnroll));
  }

  // The bytes that one access of each operand along the inner factor reads, of the operands that a
  // trip of the loop over reduced factors reads again.
  int64_t operandBytes() {
    int64_t bytes = 0;
    for (const Access &access : nest_.operands)
      if (gpu_.inner >= 0 && access.strides[gpu_.inner] != 0 &&
          llvm::any_of(nest_.reduced, [&](int f) { return access.strides[f] != 0; }))
        bytes += bytesOf(access) * gpu_.width;
    return bytes;
  }

  void choosePointwise() {
    if (nest_.across < 0) {
      chooseWidth(nest_.inner, kAccessBytes, /*hasTail=*/true);
      gpu_.staysInColumns = gpu_.tail == 0 && computesColumns();
      return;
    }
    gpu_.inner = nest_.inner;
    gpu_.launch.threads = kThreads;
    gpu_.launch.blocks = llvm::divideCeil(nest_.sizes[nest_.inner], kGpuTile);
    for (int factor : nest_.outer)
      gpu_.launch.blocks *= factor == nest_.across ? llvm::divideCeil(nest_.sizes[factor], kGpuTile)
                                                   : nest_.sizes[factor];
  }

  // Whether some op, other than a cast, depends on the inner factor only.
  bool computesColumns() {
    return !nest_.outer.empty() && llvm::any_of(nest_.factors, [&](const auto &entry) {
      Operation *op = entry.first.getDefiningOp();
      return entry.second == uint64_t(1) << nest_.inner && op &&
             isa<graph::PointwiseInterface>(op) && !isa<graph::CastOp>(op) &&
             !graph::splatValue(entry.first);
    });
  }

  // The operands that a row reads elementwise.
  int64_t rowOperands() {
    return std::max<int64_t>(1, llvm::count_if(nest_.operands, [&](const Access &access) {
                               return llvm::any_of(nest_.reduced,
                                                   [&](int f) { return access.strides[f] != 0; });
                             }));
  }

  // A block computes one row at a time, which its threads hold in registers.
  void chooseSweep() {
    chooseWidth(nest_.reduced.empty() ? -1 : nest_.reduced.back(), kAccessBytes, /*hasTail=*/false);
    gpu_.chunks = nest_.size(nest_.reduced) / gpu_.width;
    const uint64_t chunks = std::max<int64_t>(gpu_.chunks, 1);
    gpu_.threadsPerRow =
        static_cast<int>(std::clamp<int64_t>(llvm::bit_ceil(chunks), kWarp, kMostThreads));
    gpu_.launch.threads = gpu_.threadsPerRow;
    gpu_.launch.blocks = nest_.size(nest_.outer);
    gpu_.launch.resident =
        static_cast<int>(std::max<int64_t>(1, kSweepThreads / gpu_.launch.threads));
  }

  void chooseRows() {
    if (!nest_.columnSums.empty())
      return chooseSweep();
    chooseWidth(nest_.reduced.empty() ? -1 : nest_.reduced.back(), kAccessBytes, /*hasTail=*/true);
    chooseUnroll();
    int64_t length = nest_.size(nest_.reduced), rows = nest_.size(nest_.outer);
    if (gpu_.tail > 0)
      gpu_.tails = length / nest_.sizes[gpu_.inner] * gpu_.tail;
    gpu_.chunks = (length - gpu_.tails) / gpu_.width;
    int64_t perThread = std::clamp<int64_t>(kRegisterValues / rowOperands(), 1, kMostPerThread);
    perThread = std::max<int64_t>(perThread, gpu_.width);
    int64_t wanted = llvm::bit_ceil<uint64_t>(llvm::divideCeil(length, perThread));
    // A warp reads neighbouring elements even if fewer threads could hold the row.
    int64_t together = std::min<int64_t>(kWarp, llvm::bit_ceil<uint64_t>(gpu_.chunks));
    int64_t most = kMostThreads;
    if (!nest_.rereadsRows) // small blocks leave more registers, if enough of them fill the GPU
      most =
          std::clamp<int64_t>(llvm::bit_floor<uint64_t>(kManyThreads / std::max<int64_t>(rows, 1)),
                              kBlockThreads, kMostThreads);
    else if (wanted > kMostThreads) // no block can hold the row
      most = kLoopThreads;
    int64_t threads = std::clamp(std::max(wanted, together), int64_t(1), most);
    gpu_.threadsPerRow = static_cast<int>(threads);
    gpu_.rowsPerBlock = static_cast<int>(std::max<int64_t>(1, kBlockThreads / threads));
    gpu_.inRegisters = gpu_.chunksPerThread() * gpu_.width + gpu_.tailsPerThread() <= perThread;
    gpu_.launch.threads = gpu_.threadsPerRow * gpu_.rowsPerBlock;
    gpu_.launch.blocks = llvm::divideCeil(rows, gpu_.rowsPerBlock);
  }

  void chooseColumns() {
    const int64_t columns = nest_.sizes[nest_.inner], rows = nest_.size(nest_.reduced);
    const int64_t parts = nest_.size(nest_.outer);
    chooseWidth(nest_.inner, kAccessBytes, /*hasTail=*/false);
    const auto sums = [&](int64_t width) { return width * std::max<int64_t>(sumBytes_, 1) / 4; };
    while (gpu_.width > 1 && (sums(gpu_.width) > kMostSums || operandBytes() > kMostRowBytes))
      gpu_.width /= 2;
    gpu_.chunks = columns / gpu_.width;
    gpu_.lanes = static_cast<int>(
        std::min<int64_t>(kWarp, llvm::bit_ceil<uint64_t>(std::max<int64_t>(gpu_.chunks, 1))));
    const auto blocks = [&] { return parts * llvm::divideCeil(gpu_.chunks, gpu_.lanes); };
    const auto fits = [&](int64_t threads) {
      return threads / kWarp * gpu_.columns() * sumBytes_ <= kSharedBytes;
    };
    int64_t threads = kThreads;
    while (gpu_.lanes > 1 && (!fits(threads) || (blocks() < kFewBlocks &&
                                                 gpu_.columns() * smallestBytes() > kLineBytes)))
      gpu_.lanes /= 2;
    while (threads < kLoopThreads && blocks() * threads < kManyThreads &&
           threads / gpu_.lanes < rows && fits(2 * threads))
      threads *= 2;
    gpu_.slices = static_cast<int>(threads / gpu_.lanes);
    chooseUnroll();
    gpu_.unroll = static_cast<int>(
        std::min<int64_t>(gpu_.unroll, llvm::divideCeil(std::max<int64_t>(rows, 1), gpu_.slices)));
    gpu_.launch.threads = static_cast<int>(threads);
    gpu_.launch.blocks = blocks();
    if (gpu_.launch.blocks > kFewBlocks && threads > kThreads)
      gpu_.launch.resident = static_cast<int>(kColumnThreads / threads);
  }

  const GroupNest &nest_;
  int64_t sumBytes_;
  GpuNest gpu_;
};

} // namespace

bool GpuNest::isVector(const Access &access, int64_t elements) const {
  if (elements == 1 || access.strides[inner] != 1 || access.offset % elements != 0)
    return false;
  for (auto [factor, stride] : llvm::enumerate(access.strides))
    if (static_cast<int>(factor) != inner && stride % elements != 0)
      return false;
  return true;
}

GpuNest gpuNestOf(const GroupNest &nest, int64_t sumBytes) {
  return GpuNestBuilder(nest, sumBytes).build();
}

} // namespace cleave::codegen
