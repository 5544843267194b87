// See Simplify.h.
#include "passes/simplify/Simplify.h"

#include "passes/simplify/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cleave::simplify {

using AddPatterns = void (*)(RewritePatternSet &);

// Applies the patterns until nothing changes. Merges equal ops first, since patterns match equal
// operands, and again after rewriting, which may make more ops equal. Regions have one block each,
// so that they need no simplification.
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
    if (round > 0 && !merged) // no pattern applies to what the last round left
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
  // Contraction patterns come last: a factor that they move behind a product can no longer be
  // recognised as part of a gelu. Attention is recognised together with them, by products whose
  // operands they have freed of transposes.
  if (composites == Composites::Form) {
    themes.push_back(addMergedPatterns); // not on gradients and decompositions
    SmallVector<AddPatterns> first = themes;
    first.append({addActivationPatterns, addDrawPatterns, addSoftmaxPatterns, addNormPatterns,
                  addRotaryPatterns, addCrossEntropyPatterns, addExpertPatterns});
    if (failed(applyUntilStable(function, first)))
      return failure();
    themes.push_back(addAttentionPatterns);
  }
  themes.push_back(addContractionPatterns);
  return applyUntilStable(function, themes);
}

#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/simplify/Passes.h.inc"

namespace {

struct SimplifyPass : impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    if (failed(simplify(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void registerSimplifyPasses() { PassRegistration<SimplifyPass>(); }

} // namespace cleave::simplify
