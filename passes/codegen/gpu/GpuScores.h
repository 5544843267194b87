// GpuScores: the numbers of a tile of attention: scores, which are visible, and their dropout.
#pragma once

#include "dialects/graph/Attention.h"
#include "passes/codegen/gpu/GpuTiles.h"

namespace cleave::codegen {

using graph::kInfinity;

// The attention of one kernel, and then of one head of the query.
class GpuScores {
public:
  GpuScores(GpuKernel &k, program::KernelOp kernel, const graph::AttentionScores &scores);

  const graph::AttentionScores &form() const { return scores_; }
  int64_t queries() const { return sizes_[sizes_.size() - 2]; }
  int64_t keys() const { return sizes_.back(); }
  // The most columns of a matrix: the larger one of width and depth.
  int64_t columns() const;
  // Whether heads are 16-bit floats of at most 64 columns.
  bool isNarrow() const;
  int64_t perGroup() const { return scores_.headsPerGroup(); }
  // The sizes [batch…, heads] and [batch…, groups].
  llvm::ArrayRef<int64_t> heads() const { return llvm::ArrayRef(sizes_).drop_back(2); }
  llvm::SmallVector<int64_t> groups() const;
  // Whether scores that are not visible are minus infinity, so that their weights are 0.
  bool isFillInfinite() const;
  // Whether each query may see only some keys.
  bool hides() const { return scores_.causal || scores_.mask; }

  // Goes to the head with these indices [batch…, head].
  void select(llvm::ArrayRef<mlir::Value> head);
  // The indices [batch…, group] of it.
  llvm::SmallVector<mlir::Value> group();

  // The matrix of a tensor [at…, rows, columns] or [at…, rows], an operand or a result.
  Matrix operand(mlir::Value tensor, llvm::ArrayRef<mlir::Value> at);
  Matrix result(unsigned number, llvm::ArrayRef<mlir::Value> at);

  // The index of a query in the whole scores, where it counts for a causal mask.
  mlir::Value causalIndex(mlir::Value query) { return k_.add(query, firstQuery_); }

  // A score. `exists` and `visible` are null where it always does and is.
  struct Score {
    mlir::Value value, exists, visible;
  };
  // From the product of query and key.
  Score score(GpuTiles &tiles, mlir::Value product, mlir::Value query, mlir::Value key);
  // The factor of dropout.
  mlir::Value dropFactor(mlir::Value query, mlir::Value key);

private:
  Matrix matrixOf(program::ViewAttr view, mlir::Value tensor, llvm::ArrayRef<mlir::Value> at);
  mlir::Value loadScalar(mlir::Value tensor);
  // An element of a bias or a mask.
  mlir::Value loadAdded(const Matrix &from, mlir::Value exists, mlir::Value query, mlir::Value key);
  void placeInWhole();

  GpuKernel &k_;
  program::KernelOp kernel_;
  graph::AttentionScores scores_;
  std::vector<int64_t> sizes_;           // of the scores
  llvm::SmallVector<mlir::Value> first_; // the first index in the whole scores, per dim
  mlir::Value firstQuery_, seed_;
  llvm::SmallVector<mlir::Value> head_; // of the selected head
  mlir::Value position_;                // its first score's, in the whole scores
  Matrix bias_, mask_;
};

} // namespace cleave::codegen
