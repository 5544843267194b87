// Patterns on arith.extf.
#include "passes/codegen/gpu/Bfloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

bool widensBfloat(arith::ExtFOp op) {
  return op.getIn().getType().isBF16() && op.getType().isF32();
}

// Whether LLVM computes the f32 value in bf16, with the same result: a sum or product of two bf16
// that is only rounded.
bool isNarrowed(Operation *op) {
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [](Value operand) {
                        auto wide = operand.getDefiningOp<arith::ExtFOp>();
                        return wide && widensBfloat(wide);
                      }) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<arith::TruncFOp>(user); });
}

// f32 (bf16 x) -> the two bf16 (0, x) as one word
struct WidenRounded : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto rounded = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!widensBfloat(op) || !rounded || !rounded.getIn().getType().isF32() ||
        isNarrowed(rounded.getIn().getDefiningOp()))
      return failure();
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
    Value narrow =
        LLVM::CallIntrinsicOp::create(rewriter, loc, VectorType::get({2}, rewriter.getBF16Type()),
                                      rewriter.getStringAttr("llvm.nvvm.ff2bf16x2.rn"),
                                      ValueRange{rounded.getIn(), zero}) // upper half, lower half
            ->getResult(0);
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

// f32 (element of a vector) -> its half of a word, above zeros
struct WidenElement : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto element = op.getIn().getDefiningOp<LLVM::ExtractElementOp>();
    APInt lane;
    if (!widensBfloat(op) || !element ||
        !matchPattern(element.getPosition(), m_ConstantInt(&lane)) ||
        llvm::all_of(op->getUsers(), isNarrowed))
      return failure();
    const int64_t count = cast<VectorType>(element.getVector().getType()).getNumElements();
    if (count % 2 != 0)
      return failure();
    Location loc = op.getLoc();
    auto number = [&](uint32_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    Type words = VectorType::get({count / 2}, rewriter.getI32Type());
    Value vector = LLVM::BitcastOp::create(rewriter, loc, words, element.getVector());
    const auto at = static_cast<uint32_t>(lane.getZExtValue());
    Value word = LLVM::ExtractElementOp::create(rewriter, loc, vector, number(at / 2));
    Value bits = at % 2 ? Value(arith::AndIOp::create(rewriter, loc, word, number(0xffff0000u)))
                        : Value(arith::ShLIOp::create(rewriter, loc, word, number(16)));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

} // namespace

void expandBfloats(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<WidenRounded, WidenElement>(module.getContext());
  // Stopping at the limit of rewrites is not a failure: the remaining casts are correct.
  (void)applyPatternsGreedily(module, std::move(patterns));
}

} // namespace cleave::codegen
