// Collectives transfer whole buffers of blocks, packed and unpacked by the rules of
// compiler/cost/Packing.h.
#include "compiler/cost/Packing.h"
#include "passes/bufferize/StepLowering.h"

using namespace mlir;

namespace cleave::bufferize {

int64_t StepLowering::ranksAlong(ArrayAttr axes) const {
  return mesh_.ranksAlong(*mesh::toAxes(axes, mesh_));
}

void StepLowering::collective(program::CollectiveKind kind, ArrayAttr axes, int64_t reduce,
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

// The blocks of `whole` along `dim`, consecutive in a whole buffer.
Value StepLowering::pack(const View &whole, int64_t dim, int64_t ranks, int64_t block) {
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

void StepLowering::unpack(Value blocks, ArrayRef<int64_t> blockShape, int64_t ranks, int64_t dim,
                          const View &whole) {
  forEachPart(View::dense(blocks, blocksShape(blockShape, ranks)), whole, dim,
              [&](const View &part, const View &place) { program_.copy(part, place); });
}

void StepLowering::lowerAllReduce(mesh::AllReduceOp op) {
  SmallVector<Value> send, recv;
  SmallVector<View> operands, results;
  for (Value operand : op.getOperands()) {
    operands.push_back(wholeViewOf(operand));
    send.push_back(operands.back().buffer);
  }
  for (auto [i, from] : llvm::enumerate(operands)) {
    Value result = op.getResult(i);
    // Not in place of a buffer that another pair sends, since pairs are transferred in any order.
    bool inPlace = !destinations_.contains(result) && viewOf(op.getOperand(i)) == from &&
                   diesAt(from, op) && llvm::count(send, from.buffer) == 1;
    results.push_back(inPlace ? from : wholeResult(result));
    recv.push_back(results.back().buffer);
  }
  collective(program::CollectiveKind::AllReduce, op.getAxes(), static_cast<int64_t>(op.getKind()),
             send, recv);
  for (auto [result, view] : llvm::zip(op.getResults(), results)) {
    view.shape.assign(cast<RankedTensorType>(result.getType()).getShape().begin(),
                      cast<RankedTensorType>(result.getType()).getShape().end());
    view.strides = program::denseStrides(view.shape);
    finishWhole(result, view);
  }
}

void StepLowering::lowerAllGather(mesh::AllGatherOp op) {
  View from = wholeViewOf(op.getOperand());
  int64_t ranks = ranksAlong(op.getAxes()), dim = op.getDim();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  if (!blocksOf(shape, dim, ranks, from.shape[dim]).arePacked()) {
    View result = wholeResult(op.getResult());
    collective(program::CollectiveKind::AllGather, op.getAxes(), 0, from.buffer, result.buffer);
    return finishWhole(op.getResult(), result);
  }
  Type element = ProgramBuilder::elementOf(from.buffer);
  Value blocks = program_.addBuffer("gathered", program::Role::Workspace, element,
                                    blocksShape(from.shape, ranks));
  collective(program::CollectiveKind::AllGather, op.getAxes(), 0, from.buffer, blocks);
  View result = resultView(op.getResult());
  unpack(blocks, from.shape, ranks, dim, result);
  setView(op.getResult(), result);
}

void StepLowering::lowerReduceScatter(mesh::ReduceScatterOp op) {
  int64_t block = cast<RankedTensorType>(op.getType()).getDimSize(op.getDim());
  Value send = pack(viewOf(op.getOperand()), op.getDim(), ranksAlong(op.getAxes()), block);
  View result = wholeResult(op.getResult());
  collective(program::CollectiveKind::ReduceScatter, op.getAxes(),
             static_cast<int64_t>(op.getKind()), send, result.buffer);
  finishWhole(op.getResult(), result);
}

void StepLowering::lowerAllToAll(mesh::AllToAllOp op) {
  int64_t ranks = ranksAlong(op.getAxes());
  View from = viewOf(op.getOperand());
  auto type = cast<RankedTensorType>(op.getType());
  Value send = pack(from, op.getTo(), ranks, type.getDimSize(op.getTo()));
  // The data from one rank: its block along `from`, our block along `to`.
  SmallVector<int64_t> block(from.shape);
  block[op.getTo()] = type.getDimSize(op.getTo());
  View result = resultView(op.getResult());
  if (isWhole(result) &&
      !blocksOf(type.getShape(), op.getFrom(), ranks, block[op.getFrom()]).arePacked()) {
    collective(program::CollectiveKind::AllToAll, op.getAxes(), 0, send, result.buffer);
    return setView(op.getResult(), result);
  }
  Value recv = program_.addBuffer("received", program::Role::Workspace, type.getElementType(),
                                  blocksShape(block, ranks));
  collective(program::CollectiveKind::AllToAll, op.getAxes(), 0, send, recv);
  unpack(recv, block, ranks, op.getFrom(), result);
  setView(op.getResult(), result);
}

void StepLowering::lowerPermute(mesh::PermuteOp op) {
  View from = wholeViewOf(op.getOperand()), result = wholeResult(op.getResult());
  collective(program::CollectiveKind::Permute, op.getAxes(), 0, from.buffer, result.buffer,
             op.getToAxes(), op.getReversedAttr());
  finishWhole(op.getResult(), result);
}

Value StepLowering::coordinates() {
  if (!coordinates_)
    coordinates_ = program_.findBuffer(program::Role::Coordinates, /*tensor=*/-1);
  if (!coordinates_) {
    int64_t axes = mesh_.axes.size();
    coordinates_ = program_.addBuffer("coordinates", program::Role::Coordinates,
                                      program_.builder().getI64Type(), axes);
  }
  persistent_.insert(coordinates_);
  return coordinates_;
}

// Ops on the rank's coordinates, which are the kernel's last buffer.
void StepLowering::lowerLocal(Operation *op) {
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(wholeViewOf(operand));
  View result = wholeResult(op->getResult(0));
  program_.launch(op, operands, result, coordinates());
  finishWhole(op->getResult(0), result);
}

} // namespace cleave::bufferize
