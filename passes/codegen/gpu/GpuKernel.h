// GpuKernel: the function of one kernel on GPUs, `symbol(void *buffer0, void *buffer1, …)`, or
// `symbol(void *buffer0, void *buffer1, …, int64_t block)` of a kernel with instances.
//
// Threads, barriers and shuffles are NVVM's intrinsics. Pointers are declared not to overlap, as
// far as they are different buffers.
#pragma once

#include "passes/codegen/gpu/GpuNest.h"
#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Builds the function of one kernel.
class GpuKernel : public KernelBuilder {
public:
  // Declares the function at the end of `module`; the insertion point is in it.
  GpuKernel(mlir::ModuleOp module, program::KernelOp kernel);

  // A thread takes every n-th point, n being the number of threads.
  Grain grain() const override { return Grain::Fine; }
  void points(int64_t extent, const Body &body) override;
  void parts(int64_t extent, const Range &body) override;
  // Runs `body` for the points of a grid of rows and columns; all points of a thread are in one
  // column.
  using GridBody = std::function<void(mlir::Value row, mlir::Value column)>;
  void points(int64_t rows, int64_t columns, const GridBody &body);

  // The launch of the kernel: that of `points`, or the one set here, and its shared memory.
  const Launch &launch() const { return launch_; }
  void setLaunch(const Launch &launch) { launch_ = launch; }
  void setResident(int blocks) { launch_.resident = blocks; }

  // Index of the thread in its block, and of the block in its instance, as i64.
  mlir::Value thread();
  mlir::Value block();
  // Waits for all threads of the block; all of them must get here.
  void barrier();
  // The value of the lane whose number in the warp differs in the bits of `mask`. All lanes of a
  // warp must get here.
  mlir::Value shuffle(mlir::Value value, int mask);
  // Whether the condition holds for any thread of the block, whose launch is set; all of them must
  // get here.
  mlir::Value holdsForAny(mlir::Value condition);
  // exp of an f32 by ex2.approx: relative error 2^-22 + |x| 2^-24; flushes to 0 below x = -87.3.
  mlir::Value fastExp(mlir::Value x);
  // A pointer to `count` elements of shared memory.
  mlir::Value shared(int64_t count, mlir::Type element);

  // `width` neighbouring elements of a buffer, aligned to their size or 16 bytes. Booleans are
  // bytes.
  mlir::Value loadVector(int64_t argument, mlir::Value index, mlir::Type element, int width);
  void storeVector(llvm::ArrayRef<mlir::Value> elements, int64_t argument, mlir::Value index);
  // An element of a vector that loadVector returned.
  mlir::Value elementOf(mlir::Value vector, int lane, mlir::Type element);

  // A vector of scalars, and a store of 16 bytes to shared memory, aligned to them.
  mlir::Value vectorOf(llvm::ArrayRef<mlir::Value> elements);
  void storeVectorTo(mlir::Value vector, mlir::Value pointer, mlir::Value index,
                     mlir::Type element);

  // Matrix instructions on 16-bit floats; all lanes of a warp must get here. A word has two
  // neighbouring elements, the first one in its low half.
  //
  // The two numbers, rounded, as a word.
  mlir::Value pack(mlir::Value low, mlir::Value high, mlir::Type element);
  // Four matrices of 8 x 8, one word of each per lane: lane l gets the elements (l/4, 2 (l%4)) and
  // the next, of the transposed matrix if so. Lane l's index is that of row l%8 of matrix l/8, a
  // multiple of 16 bytes.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value pointer, mlir::Value index,
                                              mlir::Type element, bool isTransposed);
  // sums + a b, for a of 16 x 16 in four words, b of 16 x 8 in two and sums of 16 x 8 in four
  // numbers per lane.
  llvm::SmallVector<mlir::Value> multiplyMatrices(mlir::ValueRange a, mlir::ValueRange b,
                                                  mlir::ValueRange sums, mlir::Type element);

  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b);
  // Builds a value where the condition holds (null: always), else zero.
  mlir::Value guarded(mlir::Value condition, llvm::function_ref<mlir::Value()> body);
  // Builds several values under one condition.
  using Branch = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> guardedValues(mlir::Value condition, Branch body);
  // The values of one of two branches.
  llvm::SmallVector<mlir::Value> either(mlir::Value condition, mlir::TypeRange types, Branch yes,
                                        Branch no);
  mlir::Value both(mlir::Value a, mlir::Value b); // either may be null: true
  mlir::Value isBelow(mlir::Value index, int64_t limit);
  // In 32 bits where the array is small enough: a 64-bit division is several times as long.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> sizes) override;

private:
  mlir::Value special(llvm::StringRef name);
  mlir::Value call(mlir::Type result, llvm::StringRef intrinsic, mlir::ValueRange arguments);
  mlir::Value sharedAddress(mlir::Value pointer, mlir::Value index, mlir::Type element);
  mlir::Value shuffleWord(mlir::Value word, int mask);

  mlir::ModuleOp module_;
  std::string name_;
  mlir::Value block_; // null: the launch has one instance
  int arrays_ = 0;
  Launch launch_;
};

} // namespace cleave::codegen
