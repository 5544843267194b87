// The pass that checks a phase's promise, for tests.
#include "passes/promise/Promise.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cleave::promise {

#define GEN_PASS_DECL_CHECKPASS
#define GEN_PASS_DEF_CHECKPASS
#include "passes/promise/Passes.h.inc"

namespace {

using Check = LogicalResult (*)(ModuleOp module);

struct CheckPass : impl::CheckPassBase<CheckPass> {
  using CheckPassBase::CheckPassBase;

  void runOnOperation() override {
    auto checkInference = [](ModuleOp module) { return checkForward(module, /*trains=*/false); };
    Check check = llvm::StringSwitch<Check>(phase)
                      .Case("import", checkImport)
                      .Case("forward", checkInference)
                      .Case("train", checkTrain)
                      .Case("primitive", checkPrimitive)
                      .Case("planned", checkPlanned)
                      .Case("partitioned", checkPartitioned)
                      .Case("scheduled", checkScheduled)
                      .Case("program", checkProgram)
                      .Default(nullptr);
    if (!check) {
      emitError(getOperation().getLoc())
          << "found phase '" << phase << "', expected import, forward, train, primitive, planned, "
          << "partitioned, scheduled or program";
      return signalPassFailure();
    }
    if (failed(check(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void registerPromisePasses() { PassRegistration<CheckPass>(); }

} // namespace cleave::promise
