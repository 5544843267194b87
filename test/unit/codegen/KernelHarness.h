// Compiles one op as a kernel; runs it on random data and compares with the op's reference
// evaluation.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <string>

namespace cleave::test {

struct KernelCase {
  // The body of a function on tensors that holds one op and returns its results.
  std::string text;
  // Result -> operand in whose memory it lies.
  std::map<int, int> inPlace = {};
  // Largest difference, relative to max(1, |expected|).
  double tolerance = 2e-6;
  // Range of random floats; integers are drawn from [low, high) as well.
  double low = -2, high = 2;
  // Tensors whose last two dims are exchanged in memory: numbers of operands, then of results.
  std::vector<int> transposed = {};
  // Operands that are not random, and their elements.
  std::map<int, std::vector<double>> given = {};
  // Rows of all matrices are this many elements apart, or a multiple of it.
  int64_t pitch = 1;
  // Tensors [N, C, spatial...] lie channels-last in memory.
  bool channelsLast = false;
};

// Replaces N and M by sizes, so that one text serves for all shapes.
std::string sized(const std::string &text, int64_t rows, int64_t columns);
// The text of a tensor type.
std::string tensorText(std::initializer_list<int> sizes, const std::string &type);
// Replaces the element type T of tensors by a type, so that it serves for all.
std::string ofType(const std::string &text, const std::string &type);

// A group whose rows are read again behind their own maximum and sum, N x M.
extern const char *const kSoftmax;

// The code of a kernel for one target.
class KernelCode {
public:
  virtual ~KernelCode() = default;
  // Runs the part [begin, end) of the parallel range, of `extent()` in all. Returns the fault,
  // or nothing.
  virtual std::string run(void *const *buffers, int64_t begin, int64_t end) const = 0;
  virtual int64_t extent() const = 0;
};

// Null (and a message on stderr) where the kernel could not be made. Every suite has its own.
std::unique_ptr<KernelCode> compileCode(program::KernelOp kernel);
// Whether it has all functions in double precision, or only exp, log, powers and roots.
extern const bool kHasDoubleFunctions;

// A case's op as a kernel, and its code.
class CompiledKernel {
public:
  // Null (and a message on stderr) where the text is wrong or the kernel could not be made.
  static std::unique_ptr<CompiledKernel> compile(const KernelCase &testCase);
  // The same without code.
  static std::unique_ptr<CompiledKernel> build(const KernelCase &testCase);
  // False (and a message on stderr) where something went wrong.
  bool run(void *const *buffers, int64_t begin, int64_t end) const;
  int64_t extent() const { return code_->extent(); }
  program::KernelOp op() const { return op_; }

private:
  CompiledKernel() : context_(mlir::MLIRContext::Threading::DISABLED) {}
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  program::KernelOp op_;
  std::unique_ptr<KernelCode> code_;
};

// The largest difference over all results, or infinity (and a message on stderr) where the kernel
// could not be made. The parallel range is run whole, and cut into parts in reverse order.
double worstDifference(const KernelCase &testCase);
// The elements of the first result; none where the kernel could not be made or had a fault.
std::vector<double> resultsOf(const KernelCase &testCase);

} // namespace cleave::test
