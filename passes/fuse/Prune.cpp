// Goes from the last group to the first: an operand that is dropped may be the last use of another
// group's result.
#include "passes/fuse/Prune.h"

using namespace mlir;

namespace cleave::fuse {

static void pruneBody(Block &body) {
  Operation *op = body.getTerminator()->getPrevNode();
  while (op) {
    Operation *previous = op->getPrevNode();
    if (op->use_empty())
      op->erase();
    op = previous;
  }
}

graph::FusionOp pruneGroup(graph::FusionOp fusion) {
  Block &body = fusion.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<Value> used;
  for (unsigned i = fusion.getNumResults(); i-- > 0;)
    if (fusion.getResult(i).use_empty())
      yield->eraseOperand(i);
    else
      used.insert(used.begin(), fusion.getResult(i));
  pruneBody(body);
  SmallVector<Value> operands;
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty())
      body.eraseArgument(i);
    else
      operands.insert(operands.begin(), fusion.getOperand(i));
  if (used.size() == fusion.getNumResults() && operands.size() == fusion.getNumOperands())
    return fusion;
  graph::FusionOp pruned;
  if (!used.empty()) {
    OpBuilder b(fusion);
    pruned = graph::FusionOp::create(b, fusion.getLoc(), TypeRange(ValueRange(used)), operands);
    pruned->setDiscardableAttrs(fusion->getDiscardableAttrDictionary());
    pruned.getBody().takeBody(fusion.getBody());
    for (auto [value, result] : llvm::zip_equal(used, pruned.getResults()))
      value.replaceAllUsesWith(result);
  }
  fusion.erase();
  return pruned;
}

void pruneGroups(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (auto fusion = dyn_cast<graph::FusionOp>(op))
      pruneGroup(fusion);
}

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace cleave::fuse
