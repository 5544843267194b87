// KernelBuilder: loads, stores, loops and arithmetic of one kernel's function, for every target.
//
// A target derives from it and says how the kernel's parallel range is shared out.
#pragma once

#include "passes/codegen/nest/GroupNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <functional>

namespace cleave::codegen {

// How a target shares out the parallel range. Coarse: to few threads, each of which takes a long
// part of it and does well on long loops inside of a point. Fine: to many threads that run in step,
// neighbouring points to neighbouring threads, so that a point should be one element.
enum class Grain { Coarse, Fine };

// Builds the function of one kernel, whose first arguments are the kernel's buffers.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;

  // The builder, whose insertion point the functions below build at.
  mlir::OpBuilder &builder() { return b_; }
  mlir::Location loc() const { return loc_; }

  // Bodies of loops; `carried` are the values of the iteration before.
  using Body = std::function<void(mlir::Value index)>;
  using Range = std::function<void(mlir::Value from, mlir::Value to)>;
  using Fold =
      std::function<mlir::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;

  virtual Grain grain() const = 0;
  // Calls `body` for the points of the parallel range [0, extent) that are this thread's. A kernel
  // calls this function or `parts` once.
  virtual void points(int64_t extent, const Body &body) = 0;
  // The same by ranges of points.
  virtual void parts(int64_t extent, const Range &body) = 0;
  // The size of the kernel's parallel range, once it is emitted.
  int64_t extent() const { return extent_; }

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
  virtual void describe(int64_t argument, int64_t count) {}

  // for index in [from, to) by step
  void loop(mlir::Value from, mlir::Value to, int64_t step, const Body &body);
  // The same with values that are carried from one iteration to the next. Returns the last ones.
  llvm::SmallVector<mlir::Value> fold(mlir::Value from, mlir::Value to, int64_t step,
                                      mlir::ValueRange start, const Fold &body);
  // Builds `body` where it runs only if the condition holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body);

  // One step of a reduction over elements of this type, and its initial value. LLVM may change the
  // order of maxima and minima, and the sign of a zero among them. All other arithmetic stays as
  // written, so that a value that several kernels compute is equal in all of them, to the last bit:
  // the gradient of a maximum, which compares x with max(x), relies on it, and losses do not depend
  // on where a model is cut.
  mlir::Value combine(graph::Reduction kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(graph::Reduction kind, mlir::Type element);
  // The type in which elements of this type are reduced, f32 for 16-bit floats, and casts between
  // the two; narrowing what was widened gives the value before.
  mlir::Type wideType(mlir::Type element);
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, mlir::Type element);

  // The coordinates of a linear index in an array of these sizes, major first.
  virtual llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                                     llvm::ArrayRef<int64_t> sizes);

protected:
  explicit KernelBuilder(mlir::MLIRContext *context);
  // Declares the function at the end of `module`, with one pointer for each of `buffers` and
  // further arguments of type i64, and moves the insertion point into it.
  void declare(mlir::ModuleOp module, const std::string &name, int64_t buffers, int64_t further);
  // The type of elements in memory.
  mlir::Type memoryType(mlir::Type element);
  // Called before every access to an element.
  virtual void check(mlir::Value pointer, mlir::Value index, const char *access) {}

  mlir::OpBuilder b_;
  mlir::Location loc_;
  mlir::func::FuncOp body_;
  int64_t extent_ = 0;
};

// Calls a body with the indices of several elements.
using ForEach = std::function<void(const KernelBuilder::Body &)>;

// The parallel range of a kernel that computes `rows` rows of `length` elements each: calls `body`
// with the row and with the loop over those of its elements that belong to the point. Points are
// rows, or elements where the grain is fine.
void forEachRow(KernelBuilder &k, int64_t rows, int64_t length,
                const std::function<void(mlir::Value row, const ForEach &elements)> &body);

} // namespace cleave::codegen
