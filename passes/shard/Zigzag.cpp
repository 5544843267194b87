#include "passes/shard/Zigzag.h"

#include "dialects/graph/Attention.h"
#include "dialects/graph/Build.h"
#include "dialects/mesh/MeshDialect.h"

#include <array>

using namespace mlir;

namespace cleave::shard {
namespace {

class ZigzagBuilder {
public:
  ZigzagBuilder(OpBuilder &b, const LocalOp &local, int factor, const Mesh &mesh)
      : b_(b), local_(local), factor_(factor),
        axes_(mesh::toAttribute(local.axes[factor], mesh, b.getContext())) {}

  SmallVector<Value> run() {
    std::array<SmallVector<Value>, 2> operands;
    for (auto [i, block] : llvm::enumerate(local_.operands)) {
      const int dim = planner::dimOfFactor(local_.rule.operands[i], factor_);
      operands[0].push_back(dim < 0 ? block : half(block, dim, 0));
      operands[1].push_back(dim < 0 ? block : mirrored(half(block, dim, 1)));
    }
    const SmallVector<Value> first = compute(operands[0], 0), second = compute(operands[1], 1);
    SmallVector<Value> results;
    for (size_t i = 0; i < first.size(); ++i)
      results.push_back(joined(first[i], second[i], i));
    return results;
  }

private:
  Location loc() const { return local_.op->getLoc(); }

  static RankedTensorType halved(Type type, int dim) {
    auto whole = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] /= 2;
    return RankedTensorType::get(shape, whole.getElementType());
  }

  Value half(Value block, int dim, int64_t number) {
    const RankedTensorType type = halved(block.getType(), dim);
    return graph::SliceOp::create(b_, loc(), type, block, dim, number * type.getDimSize(dim), 1);
  }

  // The half of the mirrored rank.
  Value mirrored(Value value) {
    auto permute =
        mesh::PermuteOp::create(b_, loc(), value.getType(), value, axes_, axes_, /*reversed=*/true);
    permute->setAttr(mesh::kPart, b_.getStringAttr(local_.part));
    return permute;
  }

  // The index of the first row of a half in the whole factor. This rank's block begins at `own`,
  // and the second half of the mirrored rank ends as many rows before the end of the factor.
  Value beginOf(int64_t number) {
    Value own = local_.blockOffset(factor_);
    if (number == 0)
      return own;
    const int64_t size = *local_.rule.factors[factor_].size.constant();
    Value last = graph::buildSplatLike(b_, own, static_cast<double>(size - halfSize()));
    return graph::SubOp::create(b_, loc(), last, own);
  }

  int64_t halfSize() const {
    for (auto [i, block] : llvm::enumerate(local_.operands))
      if (const int dim = planner::dimOfFactor(local_.rule.operands[i], factor_); dim >= 0)
        return cast<RankedTensorType>(block.getType()).getDimSize(dim) / 2;
    llvm_unreachable("no operand has the factor");
  }

  SmallVector<Value> compute(ValueRange operands, int64_t number) {
    SmallVector<Type> types;
    for (auto [i, type] : llvm::enumerate(local_.types)) {
      const int dim = planner::dimOfFactor(local_.rule.results[i], factor_);
      types.push_back(dim < 0 ? type : halved(type, dim));
    }
    Value begin = beginOf(number);
    auto offset = [&](unsigned factor) {
      return static_cast<int>(factor) == factor_ ? begin : local_.blockOffset(factor);
    };
    SmallVector<Value> results =
        cast<graph::PartitionInterface>(local_.op).partition(b_, operands, types, offset);
    results[0].getDefiningOp()->setAttr(graph::kMirrored, b_.getUnitAttr());
    return results;
  }

  Value joined(Value first, Value second, size_t result) {
    const int dim = planner::dimOfFactor(local_.rule.results[result], factor_);
    if (dim < 0)
      return graph::AddOp::create(b_, loc(), first, second);
    return graph::ConcatOp::create(b_, loc(), local_.types[result],
                                   ValueRange{first, mirrored(second)}, dim);
  }

  OpBuilder &b_;
  const LocalOp &local_;
  const int factor_;
  ArrayAttr axes_;
};

} // namespace

SmallVector<Value> partitionInZigzag(OpBuilder &b, const LocalOp &local, int factor,
                                     const Mesh &mesh) {
  return ZigzagBuilder(b, local, factor, mesh).run();
}

} // namespace cleave::shard
