// Packs, transfers and unpacks the blocks of each kind of collective.
#include "passes/bufferize/Collectives.h"

#include "compiler/cost/Packing.h"

using namespace mlir;

namespace cleave::bufferize {

int64_t CollectiveLowering::ranksAlong(ArrayAttr axes) const {
  return mesh_.ranksAlong(*mesh::toAxes(axes, mesh_));
}

void CollectiveLowering::add(program::CollectiveKind kind, ArrayAttr axes, int64_t reduce,
                             ArrayRef<Value> send, ArrayRef<Value> recv, ArrayAttr toAxes,
                             UnitAttr reversed) {
  SmallVector<Value> sent, received; // buffers without elements are not transferred
  for (auto [from, to] : llvm::zip_equal(send, recv))
    if (ProgramBuilder::elementsOf(from) > 0) {
      sent.push_back(from);
      received.push_back(to);
    }
  if (sent.empty())
    return;
  OpBuilder &b = program_.builder();
  auto numbers = [&](ArrayAttr names) {
    std::vector<int> plain = *mesh::toAxes(names, mesh_);
    return b.getDenseI64ArrayAttr(SmallVector<int64_t>(plain.begin(), plain.end()));
  };
  program_.add<program::CollectiveOp>(program::CollectiveKindAttr::get(b.getContext(), kind),
                                      numbers(axes), toAxes ? numbers(toAxes) : DenseI64ArrayAttr(),
                                      reversed, b.getI64IntegerAttr(reduce), sent, received);
}

static cost::Blocks blocksOf(ArrayRef<int64_t> shape, int64_t dim, int64_t ranks, int64_t block) {
  return {{shape.data(), shape.size()}, dim, ranks, block};
}

// Calls visit(view of blocks in `blocks`, view of their elements in `whole`): for all full blocks
// together, then for the rest in the last block.
template <typename Visit>
static void forEachPart(const View &blocks, const View &whole, int64_t dim, Visit visit) {
  // blocks: [ranks, …, block, …] with `block` at dim + 1.
  int64_t block = blocks.shape[dim + 1];
  cost::Blocks parts = blocksOf(whole.shape, dim, blocks.shape[0], block);
  int64_t full = parts.full(), rest = parts.rest();
  SmallVector<int64_t> order; // the ranks' dim right before the block's
  for (size_t i = 1; i < blocks.shape.size(); ++i) {
    if (static_cast<int64_t>(i) == dim + 1)
      order.push_back(0);
    order.push_back(i);
  }
  if (full > 0)
    visit(blocks.sliced(0, 0, 1, full).transposed(order),
          whole.sliced(dim, 0, 1, full * block).split(dim, block));
  if (rest > 0)
    visit(blocks.sliced(0, full, 1, 1).sliced(dim + 1, 0, 1, rest).transposed(order),
          whole.sliced(dim, full * block, 1, rest).split(dim, rest));
}

static SmallVector<int64_t> blocksShape(ArrayRef<int64_t> block, int64_t ranks) {
  SmallVector<int64_t> shape = {ranks};
  llvm::append_range(shape, block);
  return shape;
}

Value CollectiveLowering::pack(const View &whole, int64_t dim, int64_t ranks, int64_t block) {
  cost::Blocks parts = blocksOf(whole.shape, dim, ranks, block);
  if (isWhole(whole) && !parts.arePacked())
    return whole.buffer;
  SmallVector<int64_t> shape(whole.shape);
  shape[dim] = block;
  SmallVector<int64_t> all = blocksShape(shape, ranks);
  Type element = ProgramBuilder::elementOf(whole.buffer);
  View packed =
      View::dense(program_.addBuffer("packed", program::Role::Workspace, element, all), all);
  if (parts.arePadded())
    program_.fill(packed.buffer, 0);
  forEachPart(packed, whole, dim,
              [&](const View &part, const View &place) { program_.copy(place, part); });
  return packed.buffer;
}

void CollectiveLowering::unpack(Value blocks, ArrayRef<int64_t> blockShape, int64_t ranks,
                                int64_t dim, const View &whole) {
  forEachPart(View::dense(blocks, blocksShape(blockShape, ranks)), whole, dim,
              [&](const View &part, const View &place) { program_.copy(part, place); });
}

void CollectiveLowering::lower(mesh::AllReduceOp op) {
  SmallVector<Value> send, recv;
  SmallVector<View> operands, results;
  for (Value operand : op.getOperands()) {
    operands.push_back(views_.wholeOf(operand));
    send.push_back(operands.back().buffer);
  }
  for (auto [i, from] : llvm::enumerate(operands)) {
    Value result = op.getResult(i);
    // Not in place of a buffer that another pair sends, since pairs are transferred in any order.
    bool inPlace = !views_.destinationOf(result) && views_.of(op.getOperand(i)) == from &&
                   views_.diesAt(from, op) && llvm::count(send, from.buffer) == 1;
    results.push_back(inPlace ? from : views_.wholeResult(result));
    recv.push_back(results.back().buffer);
  }
  add(program::CollectiveKind::AllReduce, op.getAxes(), static_cast<int64_t>(op.getKind()), send,
      recv);
  for (auto [result, view] : llvm::zip(op.getResults(), results)) {
    view.shape.assign(cast<RankedTensorType>(result.getType()).getShape().begin(),
                      cast<RankedTensorType>(result.getType()).getShape().end());
    view.strides = program::denseStrides(view.shape);
    views_.finishWhole(result, view);
  }
}

void CollectiveLowering::lower(mesh::AllGatherOp op) {
  View from = views_.wholeOf(op.getOperand());
  int64_t ranks = ranksAlong(op.getAxes()), dim = op.getDim();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  if (!blocksOf(shape, dim, ranks, from.shape[dim]).arePacked()) {
    View result = views_.wholeResult(op.getResult());
    add(program::CollectiveKind::AllGather, op.getAxes(), 0, from.buffer, result.buffer);
    return views_.finishWhole(op.getResult(), result);
  }
  Type element = ProgramBuilder::elementOf(from.buffer);
  Value blocks = program_.addBuffer("gathered", program::Role::Workspace, element,
                                    blocksShape(from.shape, ranks));
  add(program::CollectiveKind::AllGather, op.getAxes(), 0, from.buffer, blocks);
  View result = views_.resultView(op.getResult());
  unpack(blocks, from.shape, ranks, dim, result);
  views_.set(op.getResult(), result);
}

void CollectiveLowering::lower(mesh::ReduceScatterOp op) {
  int64_t block = cast<RankedTensorType>(op.getType()).getDimSize(op.getDim());
  Value send = pack(views_.of(op.getOperand()), op.getDim(), ranksAlong(op.getAxes()), block);
  View result = views_.wholeResult(op.getResult());
  add(program::CollectiveKind::ReduceScatter, op.getAxes(), static_cast<int64_t>(op.getKind()),
      send, result.buffer);
  views_.finishWhole(op.getResult(), result);
}

void CollectiveLowering::lower(mesh::AllToAllOp op) {
  int64_t ranks = ranksAlong(op.getAxes());
  View from = views_.of(op.getOperand());
  auto type = cast<RankedTensorType>(op.getType());
  Value send = pack(from, op.getTo(), ranks, type.getDimSize(op.getTo()));
  // The data from one rank: its block along `from`, our block along `to`.
  SmallVector<int64_t> block(from.shape);
  block[op.getTo()] = type.getDimSize(op.getTo());
  View result = views_.resultView(op.getResult());
  if (isWhole(result) &&
      !blocksOf(type.getShape(), op.getFrom(), ranks, block[op.getFrom()]).arePacked()) {
    add(program::CollectiveKind::AllToAll, op.getAxes(), 0, send, result.buffer);
    return views_.set(op.getResult(), result);
  }
  Value recv = program_.addBuffer("received", program::Role::Workspace, type.getElementType(),
                                  blocksShape(block, ranks));
  add(program::CollectiveKind::AllToAll, op.getAxes(), 0, send, recv);
  unpack(recv, block, ranks, op.getFrom(), result);
  views_.set(op.getResult(), result);
}

void CollectiveLowering::lower(mesh::PermuteOp op) {
  View from = views_.wholeOf(op.getOperand()), result = views_.wholeResult(op.getResult());
  add(program::CollectiveKind::Permute, op.getAxes(), 0, from.buffer, result.buffer, op.getToAxes(),
      op.getReversedAttr());
  views_.finishWhole(op.getResult(), result);
}

} // namespace cleave::bufferize
