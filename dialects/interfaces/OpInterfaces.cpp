// The generated definitions of interfaces, and cloning.
#include "dialects/interfaces/OpInterfaces.h"

using namespace mlir;

#include "dialects/interfaces/OpInterfaces.cpp.inc"

SmallVector<Value> cleave::graph::cloneWith(OpBuilder &b, Operation *op, ValueRange operands,
                                            TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
  for (Region &region : op->getRegions()) {
    IRMapping mapping;
    region.cloneInto(state.addRegion(), mapping);
  }
  return SmallVector<Value>(b.create(state)->getResults());
}
