// See LongReductions.h.
#include "passes/decompose/LongReductions.h"

#include "compiler/analysis/ChannelsLast.h"
#include "dialects/graph/Graph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

// The major dims, reduced in the second step; empty if one step is enough.
static SmallVector<int64_t> majorDims(graph::ReduceOp reduce, bool isChannelsLast) {
  auto type = dyn_cast<RankedTensorType>(reduce.getOperand().getType());
  if (!type || !type.hasStaticShape())
    return {};
  SmallVector<int64_t> dims(reduce.getDims());
  llvm::sort(dims);
  int64_t reduced = 1;
  for (int64_t dim : dims)
    reduced *= type.getDimSize(dim);
  const int64_t innermost = isChannelsLast ? 1 : type.getRank() - 1;
  if (reduced < kLongRow || !llvm::is_contained(dims, innermost))
    return {};
  const int64_t blocks = type.getNumElements() / reduced;
  SmallVector<int64_t> result;
  int64_t parts = 1;
  for (size_t i = 0; i + 1 < dims.size() && blocks * parts < kFull; ++i) {
    result.push_back(dims[i]);
    parts *= type.getDimSize(dims[i]);
  }
  return parts > 1 ? result : SmallVector<int64_t>();
}

static void split(graph::ReduceOp reduce, ArrayRef<int64_t> major) {
  OpBuilder b(reduce);
  Location loc = reduce.getLoc();
  Type element = graph::elementTypeOf(reduce.getOperand());
  const bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  SmallVector<int64_t> minor;
  llvm::copy_if(reduce.getDims(), std::back_inserter(minor),
                [&](int64_t dim) { return !llvm::is_contained(major, dim); });
  auto typeWith = [](Value value, Type element) {
    return cast<RankedTensorType>(value.getType()).clone(element);
  };
  Value value = reduce.getOperand();
  if (isNarrow)
    value = graph::CastOp::create(b, loc, typeWith(value, b.getF32Type()), value);
  for (ArrayRef<int64_t> dims : {ArrayRef<int64_t>(minor), major})
    value =
        graph::ReduceOp::create(b, loc, reduce.getKindAttr(), value, b.getDenseI64ArrayAttr(dims));
  if (isNarrow)
    value = graph::CastOp::create(b, loc, typeWith(value, element), value);
  reduce.getResult().replaceAllUsesWith(value);
  reduce.erase();
}

void splitLongReductions(func::FuncOp function) {
  SmallVector<std::pair<graph::ReduceOp, SmallVector<int64_t>>> found;
  const analysis::ChannelsLast channelsLast(function);
  function.walk([&](graph::ReduceOp reduce) {
    const bool isChannelsLast = channelsLast.contains(reduce.getOperand());
    if (SmallVector<int64_t> major = majorDims(reduce, isChannelsLast); !major.empty())
      found.push_back({reduce, std::move(major)});
  });
  for (auto &[reduce, major] : found)
    split(reduce, major);
}

#define GEN_PASS_DEF_LONGREDUCTIONSPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct LongReductionsPass : impl::LongReductionsPassBase<LongReductionsPass> {
  void runOnOperation() override { splitLongReductions(getOperation()); }
};

} // namespace

void registerLongReductionsPass() { PassRegistration<LongReductionsPass>(); }

} // namespace cleave::decompose
