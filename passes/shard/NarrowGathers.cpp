// See NarrowGathers.h.
#include "passes/shard/NarrowGathers.h"

#include "dialects/graph/Graph.h"
#include "dialects/mesh/MeshDialect.h"

using namespace mlir;

namespace cleave::shard {
namespace {

// The result of an op that only casts its operand: a cast, or a group of one cast. Else null.
Value castBy(Operation *op) {
  if (isa<graph::CastOp>(op))
    return op->getResult(0);
  auto group = dyn_cast<graph::FusionOp>(op);
  if (!group || group->getNumOperands() != 1 || group->getNumResults() != 1)
    return {};
  Block &body = group.getBody().front();
  auto cast = dyn_cast<graph::CastOp>(body.front());
  const bool isAlone = cast && cast->getNextNode() == body.getTerminator() &&
                       cast.getOperand() == body.getArgument(0) &&
                       body.getTerminator()->getOperand(0) == cast.getResult();
  return isAlone ? group->getResult(0) : Value();
}

unsigned bitsOf(Type tensor) { return getElementTypeOrSelf(tensor).getIntOrFloatBitWidth(); }

// The type that all readers cast to, if it is narrower. Else null.
Type narrowTypeOf(mesh::AllGatherOp gather) {
  Type narrow;
  for (Operation *reader : gather->getUsers()) {
    Value result = castBy(reader);
    if (!result || (narrow && result.getType() != narrow))
      return {};
    narrow = result.getType();
  }
  return narrow && bitsOf(narrow) < bitsOf(gather.getType()) ? narrow : Type();
}

void narrow(mesh::AllGatherOp gather, Type type) {
  OpBuilder b(gather);
  auto block = cast<RankedTensorType>(gather.getOperand().getType());
  Operation *reader = *gather->getUsers().begin();
  Value low = graph::CastOp::create(b, reader->getLoc(), block.clone(getElementTypeOrSelf(type)),
                                    gather.getOperand());
  Operation *gathered = b.clone(*gather);
  gathered->setOperand(0, low);
  gathered->getResult(0).setType(type);
  for (Operation *user : llvm::make_early_inc_range(gather->getUsers())) {
    castBy(user).replaceAllUsesWith(gathered->getResult(0));
    user->erase();
  }
  gather.erase();
}

} // namespace

void narrowGathers(func::FuncOp step) {
  // From the last one on: a gather along several axes is a chain, whose last part is narrow first.
  SmallVector<mesh::AllGatherOp> gathers(step.getBody().front().getOps<mesh::AllGatherOp>());
  for (mesh::AllGatherOp gather : llvm::reverse(gathers))
    if (Type type = narrowTypeOf(gather))
      narrow(gather, type);
}

} // namespace cleave::shard
