// The phase `forward`.
//
//  S1–S10 The signature is complete (Signature.cpp).
//  P1     A step of which no gradient is taken has no gradient stops.
//  P2     Every op has an effect or a result that is read: there is no dead code.
#include "passes/promise/Promise.h"

#include "passes/promise/Rules.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kForwardPhase = "forward";

LogicalResult checkForward(ModuleOp module, bool trains) {
  if (failed(checkSignature(module, kForwardPhase)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  if (!trains && failed(checkNoGradientStops(step, kForwardPhase, "P1")))
    return failure();
  for (Operation &op : step.getBody().front().without_terminator())
    if (isOpTriviallyDead(&op))
      return broken(&op, kForwardPhase, "P2") << "computes what no op reads";
  return success();
}

} // namespace cleave::promise
