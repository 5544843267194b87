#include "passes/shard/BlockOffsets.h"

#include "dialects/mesh/MeshDialect.h"

using namespace mlir;

namespace cleave::shard {

Value BlockOffsets::get(const std::vector<int> &axes, int64_t size, Location loc) {
  if (axes.empty())
    return {};
  int64_t ranks = mesh_.ranksAlong(axes), block = (size + ranks - 1) / ranks;
  Value &offset = offsets_[{axes, block}];
  if (!offset) {
    OpBuilder b(loc.getContext());
    b.setInsertionPointToStart(top_);
    offset = mesh::BlockOffsetOp::create(b, loc, mesh::toAttribute(axes, mesh_, b.getContext()),
                                         static_cast<uint64_t>(block));
  }
  return offset;
}

} // namespace cleave::shard
