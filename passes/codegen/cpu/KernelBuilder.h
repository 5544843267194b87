// KernelBuilder: builds the function of one kernel, with loads, stores, loops and arithmetic.
//
// Every kernel becomes two functions: `symbol(void *const *buffers, int64_t begin, int64_t end)`,
// as program.proto states, and a body whose pointer arguments are declared not to overlap.
#pragma once

#include "passes/codegen/cpu/GroupNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <string>

namespace cleave::codegen {

// A body's name is its kernel's with this suffix.
inline constexpr llvm::StringLiteral kBodySuffix = ".body";
// The function that checked kernels call before every access.
inline constexpr llvm::StringLiteral kCheck = "check.element";

// Builds the functions of one kernel.
class KernelBuilder {
public:
  // Declares both functions at the end of `module`; the insertion point is in the body. If
  // `checked`, the kernel compares every load and store with the elements of its views or scratch
  // memory; one outside of them is reported to standard error and ends the process.
  KernelBuilder(mlir::ModuleOp module, program::KernelOp kernel, bool checked = false);

  // The builder, whose insertion point the functions below build at.
  mlir::OpBuilder &builder() { return b_; }
  mlir::Location loc() const { return loc_; }
  // The part [begin, end) of the kernel's parallel range that this call computes.
  mlir::Value begin() { return body_.getArgument(buffers_); }
  mlir::Value end() { return body_.getArgument(buffers_ + 1); }

  // Constants of and arithmetic on indices.
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  // The smaller of an index and a limit.
  mlir::Value smaller(mlir::Value a, int64_t limit);
  // A constant of an element type.
  mlir::Value scalar(mlir::Type type, double value);

  // One element of a buffer. Booleans are i1 values and bytes in memory.
  mlir::Value load(int64_t argument, mlir::Value index, mlir::Type element);
  void store(mlir::Value value, int64_t argument, mlir::Value index);
  mlir::Value loadFrom(mlir::Value pointer, mlir::Value index, mlir::Type element);
  void storeTo(mlir::Value value, mlir::Value pointer, mlir::Value index);
  // Declares that a buffer without a view has the elements [0, count).
  void describe(int64_t argument, int64_t count);
  // A pointer to `count` elements on the stack, valid during the whole call.
  mlir::Value scratch(int64_t count, mlir::Type element);

  // Bodies of loops; `carried` are the values of the iteration before.
  using Body = std::function<void(mlir::Value index)>;
  using Fold =
      std::function<mlir::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;
  // for index in [from, to) by step
  void loop(mlir::Value from, mlir::Value to, int64_t step, const Body &body);
  // The same with values that are carried from one iteration to the next. Returns the last ones.
  llvm::SmallVector<mlir::Value> fold(mlir::Value from, mlir::Value to, mlir::ValueRange start,
                                      const Fold &body);

  // One step of a reduction over elements of this type, and its initial value.
  mlir::Value combine(graph::Reduction kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(graph::Reduction kind, mlir::Type element);
  // The type in which elements of this type are reduced, f32 for 16-bit floats, and casts between
  // the two; narrowing what was widened gives the value before.
  mlir::Type wideType(mlir::Type element);
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, mlir::Type element);

  // Allows reassociation of a sum; infinities and NaN keep their meaning. For folds only: all other
  // arithmetic stays as written, so that a value that several kernels recompute is equal in all of
  // them, to the last bit. The gradient of a maximum, which compares x with max(x), relies on it.
  void relax(mlir::Value value);

  // The coordinates of a linear index in an array of these sizes, major first.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> sizes);

private:
  // The elements [first, end) that may be accessed through a pointer, and its name in messages.
  struct Extent {
    int64_t first, end;
    std::string name;
  };

  mlir::Type memoryType(mlir::Type element);
  void buildEntry(mlir::ModuleOp module, llvm::StringRef symbol);
  void describeBuffers();
  void check(mlir::Value pointer, mlir::Value index, const char *access);

  mlir::OpBuilder b_;
  mlir::Location loc_;
  program::KernelOp kernel_;
  int64_t buffers_;
  bool checked_;
  mlir::func::FuncOp body_;
  llvm::DenseMap<mlir::Value, Extent> extents_; // by pointer; only if checked
};

} // namespace cleave::codegen
