// See DirectConvolutions.h.
#include "passes/decompose/DirectConvolutions.h"

#include "dialects/graph/Direct.h"
#include "dialects/graph/Graph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

template <typename Op> static bool isInLibrary(Op conv) {
  constexpr size_t kMostSpatialDims = 3;
  return conv.getPadsLow().size() <= kMostSpatialDims && conv.getPadsLow() == conv.getPadsHigh() &&
         llvm::all_of(conv.getPadsLow(), [](int64_t pad) { return pad >= 0; });
}

int64_t markDirectConvolutions(func::FuncOp function, Direct which) {
  int64_t count = 0;
  auto mark = [&](auto conv) {
    if (which == Direct::Necessary && isInLibrary(conv))
      return;
    graph::markDirect(conv);
    ++count;
  };
  function.walk([&](Operation *op) {
    if (auto conv = dyn_cast<graph::ConvOp>(op))
      mark(conv);
    else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op))
      mark(grad);
    else if (auto grad = dyn_cast<graph::ConvWeightGradOp>(op))
      mark(grad);
  });
  return count;
}

#define GEN_PASS_DECL_DIRECTCONVOLUTIONSPASS
#define GEN_PASS_DEF_DIRECTCONVOLUTIONSPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct DirectConvolutionsPass : impl::DirectConvolutionsPassBase<DirectConvolutionsPass> {
  using DirectConvolutionsPassBase::DirectConvolutionsPassBase;
  void runOnOperation() override {
    markDirectConvolutions(getOperation(), all ? Direct::All : Direct::Necessary);
  }
};

} // namespace

void registerDirectConvolutionsPass() { PassRegistration<DirectConvolutionsPass>(); }

} // namespace cleave::decompose
