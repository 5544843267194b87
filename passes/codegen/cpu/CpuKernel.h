// CpuKernel: the function of one kernel on CPUs.
//
// Every kernel becomes two functions: `symbol(void *const *buffers, int64_t begin, int64_t end)`,
// as program.proto states, and a body whose pointer arguments are declared not to overlap.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

#include <string>

namespace cleave::codegen {

// A body's name is its kernel's with this suffix.
inline constexpr llvm::StringLiteral kBodySuffix = ".body";
// The function that checked kernels call before every access.
inline constexpr llvm::StringLiteral kCheck = "check.element";

// Builds the functions of one kernel.
class CpuKernel : public KernelBuilder {
public:
  // Declares both functions at the end of `module`; the insertion point is in the body. If
  // `checked`, the kernel compares every load and store with the elements of its views or scratch
  // memory; one outside of them is reported to standard error and ends the process.
  CpuKernel(mlir::ModuleOp module, program::KernelOp kernel, bool checked = false);

  // A thread computes one range of the parallel range.
  Grain grain() const override { return Grain::Coarse; }
  void points(int64_t extent, const Body &body) override;
  void parts(int64_t extent, const Range &body) override;
  void describe(int64_t argument, int64_t count) override;
  // for index in [from, to) by step: a loop that LLVM does not unroll. Unrolled, several passes
  // over a row would share its loads, and spill them.
  void rolled(int64_t from, int64_t to, int64_t step, const Body &body);
  // for lane in [0, count): iterations that do not depend on each other, which become `vectors`
  // vectors at a time where that many elements fit. Unrolled first, they would become none.
  void lanes(int64_t count, int64_t vectors, const Body &body);
  // A pointer to `count` elements on the stack, valid during the whole call.
  mlir::Value scratch(int64_t count, mlir::Type element);

private:
  // The elements [first, end) that may be accessed through a pointer, and its name in messages.
  struct Extent {
    int64_t first, end;
    std::string name;
  };

  void buildEntry(mlir::ModuleOp module, llvm::StringRef symbol);
  void describeBuffers();
  void keepRolled(std::optional<int64_t> vectors = std::nullopt);
  void check(mlir::Value pointer, mlir::Value index, const char *access) override;

  program::KernelOp kernel_;
  int64_t buffers_;
  bool checked_;
  llvm::DenseMap<mlir::Value, Extent> extents_; // by pointer; only if checked
};

} // namespace cleave::codegen
