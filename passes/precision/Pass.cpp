// The pass that applies a policy to a function.
#include "passes/precision/Precision.h"

#include "dialects/graph/Graph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::precision {

#define GEN_PASS_DECL_PRECISIONPASS
#define GEN_PASS_DEF_PRECISIONPASS
#include "passes/precision/Passes.h.inc"

namespace {

struct PrecisionPass : impl::PrecisionPassBase<PrecisionPass> {
  using PrecisionPassBase::PrecisionPassBase;

  void runOnOperation() override {
    Result<Policy> policy = parsePolicy(dtype);
    if (!policy) {
      emitError(getOperation().getLoc()) << policy.status().message();
      return signalPassFailure();
    }
    if (failed(applyPolicy(getOperation(), *policy)))
      signalPassFailure();
  }
};

} // namespace

void registerPrecisionPasses() { PassRegistration<PrecisionPass>(); }

} // namespace cleave::precision
