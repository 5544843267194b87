// Evaluator: computes values that do not depend on data (shapes, axes, positions) while importing,
// with the reference semantics of the ops, or as polynomials where they depend on symbolic dims. It
// does not change the IR.
#pragma once

#include "compiler/frontend/emit/Quotient.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <variant>

namespace cleave::emit {

// A tensor whose elements may depend on symbols, in row-major order.
struct SizeTensor {
  ElementType type = ElementType::I64;
  std::vector<int64_t> shape;
  std::vector<Quotient> elements;
};

class Evaluator {
public:
  // The value if it follows from constants alone, through small tensors only, and the work of all
  // evaluations stays within a limit. Integers beyond 2^53, which exporters write for "to the end",
  // become ±2^53.
  std::optional<Tensor> evaluate(mlir::Value value);

  // The value if it follows from constants and the sizes of symbolic dims. Comparisons of symbols
  // are decided by the rules of dialects/graph/Symbols.h; none where these leave one open.
  std::optional<SizeTensor> sizes(mlir::Value value);

  // Why a value is unknown and the option that makes it known, for messages: `depends on data, …`,
  // `depends on the input 'axes', …`, or `depends on the symbol 'seq': give --set seq=8, say`.
  std::string whyUnknown(mlir::Value value);

  // Records the assumption that a size is at least 0, unless that holds for all values of its
  // symbols. The import writes the assumptions into the module (dialects/graph/Symbols.h).
  void assume(const Polynomial &notNegative);
  const std::vector<Polynomial> &assumptions() const { return assumptions_; }

  // Counts the elements of a constant that the import creates; fails when all of them exceed the
  // limit for shapes, masks and tables.
  void countConstant(int64_t elements);

  // Counts the ops that `b` builds from now on; checkOps() fails when they exceed the limit.
  void countOpsOf(mlir::OpBuilder &b) { b.setListener(&ops_); }
  void checkOps() const;

private:
  using Known = std::variant<Tensor, SizeTensor>;
  using KnownResults = std::optional<llvm::SmallVector<Known>>;

  const Known *find(mlir::Value value);
  bool isAffordable(mlir::Operation *op);
  bool compute(mlir::Operation *op);
  std::optional<SizeTensor> evaluateSizes(mlir::Operation *op, llvm::ArrayRef<SizeTensor> operands);

  struct OpCount : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation *, mlir::OpBuilder::InsertPoint) override {
      ++count;
    }
    int64_t count = 0;
  };

  OpCount ops_;
  llvm::DenseMap<mlir::Operation *, KnownResults> known_;
  std::vector<Polynomial> assumptions_;
  int64_t work_ = 0, kept_ = 0; // scalar operations, elements in known_
  int64_t made_ = 0;            // elements of constants
};

// `depends on the symbol 'seq': give --set seq=8, say`.
std::string dependsOnSymbols(const std::vector<std::string> &symbols);

} // namespace cleave::emit
