// Decomposes composite ops by their DecompositionInterface.
#include "passes/decompose/Decompose.h"

#include "dialects/graph/Graph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

static SmallVector<graph::DecompositionInterface> compositesOf(func::FuncOp function, Keeps keeps) {
  SmallVector<graph::DecompositionInterface> composites;
  function.walk([&](graph::DecompositionInterface op) {
    if (!keeps(op))
      composites.push_back(op);
  });
  return composites;
}

bool keepsNothing(graph::DecompositionInterface) { return false; }
bool keepsKernels(graph::DecompositionInterface op) { return op.hasKernel(); }
bool keepsGpuKernels(graph::DecompositionInterface op) { return op.hasGpuKernel(); }

void decomposeComposites(func::FuncOp function, Keeps keeps) {
  for (auto composites = compositesOf(function, keeps); !composites.empty();
       composites = compositesOf(function, keeps))
    for (graph::DecompositionInterface composite : composites) {
      OpBuilder b(composite);
      composite->replaceAllUsesWith(composite.decompose(b));
      composite->erase();
    }
}

#define GEN_PASS_DECL_COMPOSITESPASS
#define GEN_PASS_DEF_COMPOSITESPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct CompositesPass : impl::CompositesPassBase<CompositesPass> {
  using CompositesPassBase::CompositesPassBase;

  void runOnOperation() override {
    decomposeComposites(getOperation(), keepKernels ? keepsKernels : keepsNothing);
  }
};

} // namespace

void registerDecomposePasses() { PassRegistration<CompositesPass>(); }

} // namespace cleave::decompose
