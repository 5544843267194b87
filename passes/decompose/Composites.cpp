// Composite ops to primitive ops; what an op decomposes to is said by the op.
#include "passes/decompose/Decompose.h"

#include "dialects/graph/Graph.h"

using namespace mlir;

namespace cleave {

static SmallVector<graph::DecompositionInterface> compositesOf(func::FuncOp function) {
  SmallVector<graph::DecompositionInterface> composites;
  function.walk([&](graph::DecompositionInterface op) { composites.push_back(op); });
  return composites;
}

void decomposeComposites(func::FuncOp function) {
  for (auto composites = compositesOf(function); !composites.empty();
       composites = compositesOf(function))
    for (graph::DecompositionInterface composite : composites) {
      OpBuilder b(composite);
      composite->replaceAllUsesWith(composite.decompose(b));
      composite->erase();
    }
}

namespace {
struct DecomposeCompositesPass : PassWrapper<DecomposeCompositesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposeCompositesPass)
  StringRef getArgument() const final { return "cleave-decompose-composites"; }
  StringRef getDescription() const final {
    return "Replaces composite ops by the simpler ops that they mean";
  }
  void runOnOperation() override { decomposeComposites(getOperation()); }
};
} // namespace

std::unique_ptr<Pass> createDecomposeCompositesPass() {
  return std::make_unique<DecomposeCompositesPass>();
}

void registerDecomposePasses() {
  registerPass([] { return createDecomposeCompositesPass(); });
}

} // namespace cleave
