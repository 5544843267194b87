// See Simplify.h.
#include "passes/simplify/Simplify.h"

#include "passes/simplify/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cleave::simplify {

using AddPatterns = void (*)(RewritePatternSet &);

// Applies the patterns until nothing changes. Patterns ask for equal operands, so equal ops are merged first; rewriting may
// make more ops equal. Regions have one block each: there is nothing to simplify about them.
static LogicalResult applyUntilStable(func::FuncOp function, ArrayRef<AddPatterns> themes) {
  RewritePatternSet patterns(function.getContext());
  for (AddPatterns add : themes)
    add(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  IRRewriter rewriter(function.getContext());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  for (int round = 0; round < 10; ++round) {
    DominanceInfo dominance(function);
    bool merged = false, rewritten = false;
    eliminateCommonSubExpressions(rewriter, dominance, function, &merged);
    if (round > 0 && !merged) // the patterns had come to their end
      break;
    if (failed(applyPatternsGreedily(function, frozen, config, &rewritten)))
      return function.emitError("simplification does not come to an end");
    if (!rewritten)
      break;
  }
  return success();
}

LogicalResult simplify(func::FuncOp function, Composites composites) {
  SmallVector<AddPatterns> themes = {addConstantPatterns, addArithmeticPatterns,
                                     addCountingPatterns, addMovementPatterns};
  // A factor that has moved behind a product cannot be recognised as part of a gelu; attention is recognised by products
  // that read their operands where they lie.
  if (composites == Composites::Form) {
    themes.push_back(
        addMergedPatterns); // what gradients and decompositions merge is followed by other work
    SmallVector<AddPatterns> first = themes;
    first.append(
        {addActivationPatterns, addNormPatterns, addRotaryPatterns, addCrossEntropyPatterns});
    if (failed(applyUntilStable(function, first)))
      return failure();
    themes.push_back(addAttentionPatterns);
  }
  themes.push_back(addContractionPatterns);
  return applyUntilStable(function, themes);
}

namespace {

struct SimplifyPass : PassWrapper<SimplifyPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyPass)
  StringRef getArgument() const override { return "cleave-simplify"; }
  StringRef getDescription() const override {
    return "Fold constants, remove needless ops and recognise composites";
  }
  void runOnOperation() override {
    if (failed(simplify(getOperation())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createSimplifyPass() { return std::make_unique<SimplifyPass>(); }
void registerSimplifyPasses() { PassRegistration<SimplifyPass>(); }

} // namespace cleave::simplify
