// PoolWindows: what the windows of pool and pool_grad hold, for the kernels of every target.
#pragma once

#include "dialects/graph/Window.h"
#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// The windows of one op over planes of its input, with code for one window at a time.
class PoolWindows {
public:
  // Builds into the kernel `k` of `op`. All tensors are row-major, or all are channels-last: as
  // `input` and `output`, the views of the input and of a tensor with an element per window.
  PoolWindows(KernelBuilder &k, graph::PoolOp op, program::ViewAttr input,
              program::ViewAttr output);
  PoolWindows(KernelBuilder &k, graph::PoolGradOp op, program::ViewAttr input,
              program::ViewAttr output);

  bool isMax() const { return isMax_; }
  mlir::Type element() const { return element_; } // stored
  mlir::Type wide() const { return wide_; }       // computed in
  const graph::Window &window() const { return window_; }
  int64_t planes() const { return planes_; }
  // Spatial sizes of an input plane and of its windows, and the elements of both.
  llvm::ArrayRef<int64_t> in() const { return in_; }
  llvm::ArrayRef<int64_t> out() const { return out_; }
  int64_t inSize() const { return llvm::product_of(in_); }
  int64_t outSize() const { return llvm::product_of(out_); }

  bool isChannelsLast() const { return step_ > 1; }
  // The index in memory of the first element of a plane of `size` elements, and of the element at a
  // position of the plane.
  mlir::Value firstOf(mlir::Value plane, int64_t size);
  mlir::Value inPlane(mlir::Value first, mlir::Value position) {
    return k_.add(first, k_.mul(position, step_));
  }
  // Calls `body` with the plane and the position of every element of planes of `size` elements, in
  // the order of memory.
  void pointsInMemory(int64_t size, const std::function<void(mlir::Value, mlir::Value)> &body);

  // The results of a window: its maximum (0 if the window is empty) and the position of it in the
  // plane (-1), or its sum and the divisor of an average.
  struct Summary {
    mlir::Value value, position, divisor;
  };
  // The window at the coordinates `at`, in a plane of `input` that begins at `base`.
  Summary summarise(llvm::ArrayRef<mlir::Value> at, mlir::Value base, int64_t input);

  // Calls `visit` at every element of the window with the position in the plane and whether that
  // position exists.
  using Visit = std::function<llvm::SmallVector<mlir::Value>(
      mlir::Value position, mlir::Value inside, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> visit(llvm::ArrayRef<mlir::Value> at, mlir::ValueRange start,
                                       const Visit &visit);

private:
  template <typename Op>
  PoolWindows(KernelBuilder &k, Op op, mlir::Value outputTensor, program::ViewAttr input,
              program::ViewAttr output);

  mlir::Value coordinate(mlir::Value at, mlir::Value kernel, size_t d);
  mlir::Value below(mlir::Value x, int64_t limit);
  llvm::SmallVector<mlir::Value> larger(mlir::Value value, mlir::Value position, mlir::Value inside,
                                        mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> added(mlir::Value value, mlir::Value inside,
                                       mlir::ValueRange carried);
  mlir::Value divisor(llvm::ArrayRef<mlir::Value> at, mlir::Value count);

  KernelBuilder &k_;
  mlir::OpBuilder &b_;
  bool isMax_, countPadding_;
  mlir::Type element_, wide_;
  graph::Window window_;
  int64_t planes_, step_ = 1; // `step_`: from one element of a plane to the next, in memory
  std::vector<int64_t> in_, out_;
};

} // namespace cleave::codegen
