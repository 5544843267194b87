// BlockOffsets: the begins of this rank's blocks as values at the top of the step, each built once.
#pragma once

#include "dialects/interfaces/Sharding.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace cleave::shard {

class BlockOffsets {
public:
  BlockOffsets(mlir::Block *top, const Mesh &mesh) : top_(top), mesh_(mesh) {}

  // A scalar i64 tensor: the begin of this rank's block of `size` elements split over the axes;
  // null without axes.
  mlir::Value get(const std::vector<int> &axes, int64_t size, mlir::Location loc);

private:
  mlir::Block *top_;
  const Mesh &mesh_;
  std::map<std::pair<std::vector<int>, int64_t>, mlir::Value> offsets_; // by axes and block size
};

} // namespace cleave::shard
