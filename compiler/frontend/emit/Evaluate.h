// Evaluator: the values that depend on no data (shapes, axes, positions), computed while importing
// by the ops' own reference semantics, or in symbols where they depend on symbolic dims. Nothing in
// the IR changes.
#pragma once

#include "compiler/frontend/emit/Quotient.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <variant>

namespace cleave::emit {

// A tensor whose elements may depend on symbols, row-major.
struct SizeTensor {
  ElementType type = ElementType::I64;
  std::vector<int64_t> shape;
  std::vector<Quotient> elements;
};

class Evaluator {
public:
  // The value, if it follows from constants alone and everything on the way is small and, with what
  // was computed before, not too much. Integers
  // beyond 2^53, which exporters write for "to the end", become ±2^53.
  std::optional<Tensor> evaluate(mlir::Value value);

  // The value, if it follows from constants and the sizes of symbolic dims. Comparisons of symbols
  // are decided as dialects/graph/Symbols.h says; what they leave open is not known.
  std::optional<SizeTensor> sizes(mlir::Value value);

  // Why a value is not known, for messages, with the option that makes it known: `depends on data, …`,
  // `depends on the input 'axes', …`, or `depends on the symbol 'seq': give --set seq=8, say`.
  std::string whyUnknown(mlir::Value value);

  // Takes it for granted that a size which depends on symbols is at least 0: one that bounds another
  // is large enough. What cannot be otherwise is no assumption. The import tells the module
  // (dialects/graph/Symbols.h).
  void assume(const Polynomial &notNegative);
  const std::vector<Polynomial> &assumptions() const { return assumptions_; }

  // Counts the elements of a constant that the import makes; fails where all of them are more than
  // models have in shapes, masks and tables.
  void countConstant(int64_t elements);

  // Counts the ops that `b` builds from here on; checkOps fails where they are more than models have.
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
  int64_t work_ = 0, kept_ = 0; // operations done, elements in known_
  int64_t made_ = 0;            // elements of constants
};

// `depends on the symbol 'seq': give --set seq=8, say`.
std::string dependsOnSymbols(const std::vector<std::string> &symbols);

} // namespace cleave::emit
