// Decomposes composite ops by their DecompositionInterface.
#include "passes/decompose/Decompose.h"

#include "dialects/graph/Graph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

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

#define GEN_PASS_DEF_COMPOSITESPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct CompositesPass : impl::CompositesPassBase<CompositesPass> {
  void runOnOperation() override { decomposeComposites(getOperation()); }
};

} // namespace

void registerDecomposePasses() { PassRegistration<CompositesPass>(); }

} // namespace cleave::decompose
