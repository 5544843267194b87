#include "passes/shard/LayoutChange.h"

#include "dialects/graph/Types.h"
#include "dialects/mesh/MeshDialect.h"

using namespace mlir;

namespace cleave::shard {

RankedTensorType localType(Type global, const Sharding &sharding, const Mesh &mesh) {
  return RankedTensorType::get(localShape(graph::staticShapeOf(global), sharding, mesh),
                               graph::elementTypeOf(global));
}

namespace {

// Applies steps to a block; `layout` is always the layout of `block`.
class StepEmitter {
public:
  StepEmitter(OpBuilder &b, Value block, Type global, Sharding layout, const Mesh &mesh)
      : b_(b), block_(block), global_(global), layout_(std::move(layout)), mesh_(mesh) {
    auto isTrivial = [&](int axis) { return mesh.axes[axis].size == 1; };
    for (std::vector<int> &axes : layout_.dims)
      std::erase_if(axes, isTrivial);
    std::erase_if(layout_.partial, isTrivial);
  }

  Value block() const { return block_; }
  const Sharding &layout() const { return layout_; }

  void allReduce(const std::vector<int> &axes) {
    std::erase_if(layout_.partial, [&](int axis) { return llvm::is_contained(axes, axis); });
    block_ = mesh::AllReduceOp::create(b_, loc(), TypeRange{block_.getType()}, kind(),
                                       ValueRange{block_}, names(axes))
                 .getResult(0);
  }
  // The axes are the minor ones of the dim.
  void allGather(size_t dim, const std::vector<int> &axes) {
    layout_.dims[dim].resize(layout_.dims[dim].size() - axes.size());
    block_ = mesh::AllGatherOp::create(b_, loc(), type(), block_, dim, names(axes));
  }
  void slice(size_t dim, const std::vector<int> &axes) {
    llvm::append_range(layout_.dims[dim], axes);
    block_ = mesh::SliceOp::create(b_, loc(), type(), block_, dim, names(axes));
  }

  void reduceScatter(size_t dim, const std::vector<int> &axes) {
    mesh::Reduction reduction = kind();
    std::erase_if(layout_.partial, [&](int axis) { return llvm::is_contained(axes, axis); });
    llvm::append_range(layout_.dims[dim], axes);
    block_ = mesh::ReduceScatterOp::create(b_, loc(), type(), reduction, block_, dim, names(axes));
  }
  void allToAll(size_t from, size_t to, const std::vector<int> &axes) {
    layout_.dims[from].resize(layout_.dims[from].size() - axes.size());
    llvm::append_range(layout_.dims[to], axes);
    block_ = mesh::AllToAllOp::create(b_, loc(), type(), block_, from, to, names(axes));
  }
  void permute(const cost::ReshardStep &step) {
    layout_ = step.result;
    block_ =
        mesh::PermuteOp::create(b_, loc(), type(), block_, names(step.axes), names(step.toAxes),
                                /*reversed=*/false);
  }

  void apply(const cost::ReshardStep &step) {
    if (!step.collective)
      return slice(*step.toDim, step.axes);
    switch (*step.collective) {
    case CollectiveKind::AllGather:
      return allGather(*step.fromDim, step.axes);
    case CollectiveKind::AllToAll:
      return allToAll(*step.fromDim, *step.toDim, step.axes);
    case CollectiveKind::AllReduce:
      return allReduce(step.axes);
    case CollectiveKind::ReduceScatter:
      return reduceScatter(*step.toDim, step.axes);
    case CollectiveKind::Permute:
      return permute(step);
    case CollectiveKind::Send:
    case CollectiveKind::Recv:
      return assert(false && "a layout change has no messages between two ranks");
    }
  }

private:
  Location loc() const { return block_.getLoc(); }
  RankedTensorType type() const { return localType(global_, layout_, mesh_); }
  ArrayAttr names(const std::vector<int> &axes) const {
    return mesh::toAttribute(axes, mesh_, b_.getContext());
  }
  mesh::Reduction kind() const { return static_cast<mesh::Reduction>(layout_.reduce); }

  OpBuilder &b_;
  Value block_;
  Type global_;
  Sharding layout_;
  const Mesh &mesh_;
};

} // namespace

Value LayoutChanger::change(OpBuilder &b, Value block, Type global, const Sharding &from,
                            const Sharding &to, StringRef part) {
  if (from == to)
    return block;
  std::vector<int64_t> shape = graph::staticShapeOf(global);
  double bytes = static_cast<double>(byteSize(graph::toElementType(graph::elementTypeOf(global))));
  auto steps = resharder_.path(from, to, shape, bytes);
  assert(steps && "no way between the layouts");
  StepEmitter emitter(b, block, global, from, mesh_);
  for (const cost::ReshardStep &step : *steps) {
    emitter.apply(step);
    emitter.block().getDefiningOp()->setAttr(mesh::kPart, b.getStringAttr(part));
  }
  return emitter.block();
}

} // namespace cleave::shard
