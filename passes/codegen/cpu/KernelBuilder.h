// KernelBuilder: the function of one kernel, and loads, stores, loops and arithmetic inside it.
//
// Every kernel becomes two functions: `symbol(void *const *buffers, int64_t begin, int64_t end)`,
// which program.proto asks for, and a body whose pointer arguments are known not to overlap.
#pragma once

#include "passes/codegen/cpu/GroupNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <string>

namespace cleave::codegen {

// The bodies' names are their kernel's with this ending.
inline constexpr llvm::StringLiteral kBodySuffix = ".body";
// What checked kernels call before every access.
inline constexpr llvm::StringLiteral kCheck = "check.element";

class KernelBuilder {
public:
  // Declares both functions at the end of `module`; the insertion point is in the body. If `checked`, every load and store
  // of the kernel is compared with the elements that its views reach, or its scratch memory has; one outside is reported to
  // standard error and ends the process.
  KernelBuilder(mlir::ModuleOp module, program::KernelOp kernel, bool checked = false);

  mlir::OpBuilder &builder() { return b_; }
  mlir::Location loc() const { return loc_; }
  mlir::Value begin() { return body_.getArgument(buffers_); }
  mlir::Value end() { return body_.getArgument(buffers_ + 1); }

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  // The smaller of an index and a limit.
  mlir::Value smaller(mlir::Value a, int64_t limit);
  // A constant of an element type.
  mlir::Value scalar(mlir::Type type, double value);

  // One element of a buffer; truth values are i1 here and bytes in memory.
  mlir::Value load(int64_t argument, mlir::Value index, mlir::Type element);
  void store(mlir::Value value, int64_t argument, mlir::Value index);
  mlir::Value loadFrom(mlir::Value pointer, mlir::Value index, mlir::Type element);
  void storeTo(mlir::Value value, mlir::Value pointer, mlir::Value index);
  // States that a buffer which no view describes has elements [0, count).
  void describe(int64_t argument, int64_t count);
  // `count` elements on the stack, for the whole call.
  mlir::Value scratch(int64_t count, mlir::Type element);

  using Body = std::function<void(mlir::Value index)>;
  using Fold =
      std::function<mlir::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;
  // for index in [from, to) by step
  void loop(mlir::Value from, mlir::Value to, int64_t step, const Body &body);
  // The same with values that go from one iteration to the next; returns the last ones.
  llvm::SmallVector<mlir::Value> fold(mlir::Value from, mlir::Value to, mlir::ValueRange start,
                                      const Fold &body);

  // How elements of this type combine in a reduction, and the value to begin with.
  mlir::Value combine(graph::Reduction kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(graph::Reduction kind, mlir::Type element);
  // The element type in which many elements of this one are combined, f32 for the short floats, and casts
  // between the two.
  mlir::Type wideType(mlir::Type element);
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, mlir::Type element);

  // Lets a sum be made in another order; infinities and NaN keep their meaning. For folds only: everything else is computed
  // as it is written, so that a value that several kernels compute again is the same in all of them, to the last bit. A gradient
  // that goes where x equals its maximum would otherwise go nowhere.
  void relax(mlir::Value value);

  // The coordinates of a linear index in an array of these sizes, major first.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> sizes);

private:
  // Elements that may be accessed behind a pointer: [first, end), and what messages call it.
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
