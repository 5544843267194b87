// See BatchMoments.h.
#include "passes/decompose/BatchMoments.h"

#include "compiler/analysis/ChannelsLast.h"
#include "dialects/graph/Build.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

namespace {

// The two sums of a batch norm over the same dims.
struct Moments {
  graph::ReduceOp sum;     // of x
  graph::ReduceOp squares; // of (x - mean)^2
  Value mean;              // the sum divided by the number of elements
};

graph::ReduceOp sumOver(Value value, ArrayRef<int64_t> dims) {
  auto reduce = value.getDefiningOp<graph::ReduceOp>();
  const bool matches =
      reduce && reduce.getKind() == graph::Reduction::Sum && reduce.getDims() == dims;
  return matches ? reduce : graph::ReduceOp();
}

// Matches sum((x - broadcast(sum(x) / count))^2).
std::optional<Moments> momentsOf(graph::ReduceOp squares) {
  if (squares.getKind() != graph::Reduction::Sum)
    return std::nullopt;
  auto square = squares.getOperand().getDefiningOp<graph::MulOp>();
  if (!square || square.getLhs() != square.getRhs())
    return std::nullopt;
  auto centred = square.getLhs().getDefiningOp<graph::SubOp>();
  auto repeated =
      centred ? centred.getRhs().getDefiningOp<graph::BroadcastOp>() : graph::BroadcastOp();
  auto mean = repeated ? repeated.getOperand().getDefiningOp<graph::MulOp>() : graph::MulOp();
  if (!mean)
    return std::nullopt;
  for (auto [total, share] :
       {std::pair(mean.getLhs(), mean.getRhs()), std::pair(mean.getRhs(), mean.getLhs())})
    if (graph::ReduceOp sum = sumOver(total, squares.getDims());
        sum && sum.getOperand() == centred.getLhs() && graph::splatValue(share)) {
      // Each dim of the mean is broadcast to the dim that the sum kept it from.
      SmallVector<int64_t> kept;
      for (int64_t dim = 0; dim < graph::rankOf(sum.getOperand()); ++dim)
        if (!llvm::is_contained(sum.getDims(), dim))
          kept.push_back(dim);
      const auto type = cast<RankedTensorType>(sum.getOperand().getType());
      double count = static_cast<double>(type.hasStaticShape() ? type.getNumElements() : 0);
      for (int64_t dim : kept)
        count /= static_cast<double>(type.getDimSize(dim));
      const bool isMean = std::abs(*graph::splatValue(share) * count - 1) < 1e-6;
      if (repeated.getDims() == ArrayRef(kept) && isMean)
        return Moments{sum, squares, mean};
    }
  return std::nullopt;
}

// Whether the sum is in f32, over several elements of each sample, and keeps the innermost dim.
bool isWorthwhile(graph::ReduceOp sum, const analysis::ChannelsLast &channelsLast) {
  Value x = sum.getOperand();
  auto type = cast<RankedTensorType>(x.getType());
  const int64_t innermost = channelsLast.contains(x) ? 1 : type.getRank() - 1;
  return type.hasStaticShape() && type.getElementType().isF32() && sum.getDims().size() > 1 &&
         llvm::is_contained(sum.getDims(), 0) && !llvm::is_contained(sum.getDims(), innermost);
}

// The first element of each sample along `dims`, without these dims, in f32.
Value buildFirst(OpBuilder &b, Value x, ArrayRef<int64_t> dims) {
  Location loc = x.getLoc();
  auto cast = x.getDefiningOp<graph::CastOp>();
  Value first = cast ? cast.getOperand() : x; // the value in memory, of which a slice is a view
  graph::Shape shape;
  for (int64_t dim = 0; dim < graph::rankOf(x); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(graph::shapeOf(x)[dim]);
  for (int64_t dim : dims) {
    SmallVector<int64_t> sizes(mlir::cast<RankedTensorType>(first.getType()).getShape());
    sizes[dim] = 1;
    first =
        graph::SliceOp::create(b, loc, RankedTensorType::get(sizes, graph::elementTypeOf(first)),
                               first, dim, 0, 1, StringAttr());
  }
  return graph::buildCast(b, graph::buildReshape(b, first, shape), graph::elementTypeOf(x));
}

void rewrite(const Moments &moments) {
  graph::ReduceOp sum = moments.sum, squares = moments.squares;
  Value x = sum.getOperand();
  OpBuilder b(sum);
  Location loc = sum.getLoc();
  SmallVector<int64_t> dims;
  llvm::copy_if(sum.getDims(), std::back_inserter(dims), [](int64_t dim) { return dim != 0; });
  int64_t size = 1; // elements of a sample
  for (int64_t dim : dims)
    size *= cast<RankedTensorType>(x.getType()).getDimSize(dim);
  auto mul = [&](Value lhs, Value rhs) -> Value { return graph::MulOp::create(b, loc, lhs, rhs); };
  auto add = [&](Value lhs, Value rhs) -> Value { return graph::AddOp::create(b, loc, lhs, rhs); };
  auto sub = [&](Value lhs, Value rhs) -> Value { return graph::SubOp::create(b, loc, lhs, rhs); };
  auto times = [&](Value value, double number) {
    return mul(value, graph::buildSplatLike(b, value, number));
  };
  Value first = buildFirst(b, x, dims);
  Value distance = sub(x, graph::buildBroadcastOver(b, first, x, dims));
  Value linear = graph::buildReduce(b, graph::Reduction::Sum, distance, dims);
  Value quadratic = graph::buildReduce(b, graph::Reduction::Sum, mul(distance, distance), dims);
  Value total = graph::buildReduce(b, graph::Reduction::Sum,
                                   add(linear, times(first, static_cast<double>(size))), {0});
  sum.replaceAllUsesWith(total);
  b.setInsertionPoint(squares);
  Value share = times(linear, 1.0 / static_cast<double>(size));
  Value within = sub(quadratic, mul(linear, share));
  Value apart = sub(add(first, share), graph::buildBroadcastOver(b, moments.mean, first, {0}));
  Value between = times(mul(apart, apart), static_cast<double>(size));
  squares.replaceAllUsesWith(
      graph::buildReduce(b, graph::Reduction::Sum, add(within, between), {0}));
  squares.erase();
  sum.erase();
}

} // namespace

int64_t mergeBatchMoments(func::FuncOp function) {
  const analysis::ChannelsLast channelsLast(function);
  std::vector<Moments> found;
  function.walk([&](graph::ReduceOp reduce) {
    if (auto moments = momentsOf(reduce); moments && isWorthwhile(moments->sum, channelsLast))
      found.push_back(*moments);
  });
  for (const Moments &moments : found)
    rewrite(moments);
  return static_cast<int64_t>(found.size());
}

#define GEN_PASS_DEF_BATCHMOMENTSPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct BatchMomentsPass : impl::BatchMomentsPassBase<BatchMomentsPass> {
  void runOnOperation() override { mergeBatchMoments(getOperation()); }
};

} // namespace

void registerBatchMomentsPass() { PassRegistration<BatchMomentsPass>(); }

} // namespace cleave::decompose
