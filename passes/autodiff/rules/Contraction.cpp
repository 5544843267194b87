// Gradients of contractions. Those of dot_general are dot_generals whose operands are ordered so
// that the result has the operand's dims in order, wherever one of the two orders does.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

namespace {
// One operand of a dot_general: its dims by role, and where its free dims stand in the product.
struct Side {
  Value value;
  SmallVector<int64_t> batch, contracting, free;
  SmallVector<int64_t> freeInProduct;

  Side(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting, int64_t firstFree)
      : value(value), batch(batch), contracting(contracting) {
    for (int64_t dim = 0; dim < rankOf(value); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim)) {
        freeInProduct.push_back(firstFree + static_cast<int64_t>(free.size()));
        free.push_back(dim);
      }
  }
};
} // namespace

// The gradient of `side`: the product's gradient times the other operand, summed over the other's
// free dims.
static Value gradientOf(const Side &side, const Side &other, Term dy) {
  auto inProduct = llvm::to_vector(llvm::seq<int64_t>(0, side.batch.size()));
  // The contracting dims of `side` in the order in which the other operand has them.
  SmallVector<std::pair<int64_t, int64_t>> contracting;
  for (auto [mine, others] : llvm::zip(side.contracting, other.contracting))
    contracting.push_back({others, mine});
  llvm::sort(contracting);
  // Which dim of `side` every dim of the new product is, if dy is its first operand, and if it is
  // its second.
  SmallVector<int64_t> first(side.batch), second(side.batch);
  llvm::append_range(first, side.free);
  for (auto [others, mine] : contracting) {
    first.push_back(mine);
    second.push_back(mine);
  }
  llvm::append_range(second, side.free);
  bool isSecond = !llvm::is_sorted(first) && llvm::is_sorted(second);
  Value product = isSecond ? DotGeneralOp::create(*dy.b, other.value, dy, other.batch, inProduct,
                                                  other.free, other.freeInProduct)
                           : DotGeneralOp::create(*dy.b, dy, other.value, inProduct, other.batch,
                                                  other.freeInProduct, other.free);
  const SmallVector<int64_t> &order = isSecond ? second : first;
  SmallVector<int64_t> permutation(order.size());
  for (auto [position, dim] : llvm::enumerate(order))
    permutation[dim] = static_cast<int64_t>(position);
  return buildTranspose(*dy.b, product, permutation);
}

static Gradients dotGeneral(DotGeneralOp op, Term dy) {
  auto batch = static_cast<int64_t>(op.getLhsBatch().size());
  Side lhs(op.getLhs(), op.getLhsBatch(), op.getLhsContracting(), batch);
  Side rhs(op.getRhs(), op.getRhsBatch(), op.getRhsContracting(),
           batch + static_cast<int64_t>(lhs.free.size()));
  return {gradientOf(lhs, rhs, dy), gradientOf(rhs, lhs, dy)};
}

// The gradients of a grouped product are grouped products over the same groups of rows. Partitioned
// ops have no gradients.
static Gradients groupedMatmul(GroupedMatmulOp op, Term dy) {
  Value transposed = buildTranspose(*dy.b, op.getWeights(), {0, 2, 1});
  Gradients gradients = {
      GroupedMatmulOp::create(*dy.b, dy, transposed, op.getEnds()),
      GroupedWeightGradOp::create(*dy.b, op.getWeights().getType(), op.getX(), dy, op.getEnds())};
  gradients.resize(op->getNumOperands());
  return gradients;
}

static Gradients groupedWeightGrad(GroupedWeightGradOp op, Term dy) {
  Value transposed = buildTranspose(*dy.b, dy, {0, 2, 1});
  Gradients gradients = {GroupedMatmulOp::create(*dy.b, op.getGrad(), transposed, op.getEnds()),
                         GroupedMatmulOp::create(*dy.b, op.getX(), dy, op.getEnds())};
  gradients.resize(op->getNumOperands());
  return gradients;
}

static Gradients conv(ConvOp op, Term dy) {
  return {ConvInputGradOp::create(*dy.b, op.getInput().getType(), dy, op.getWeight(),
                                  op.getStrides(), op.getDilations(), op.getPadsLow(),
                                  op.getPadsHigh(), op.getGroups()),
          ConvWeightGradOp::create(*dy.b, op.getWeight().getType(), dy, op.getInput(),
                                   op.getStrides(), op.getDilations(), op.getPadsLow(),
                                   op.getPadsHigh(), op.getGroups())};
}

// The convolution with the window of `op`, without its last elements where dy's gradient has fewer:
// a transposed convolution with output padding has fewer windows than fit.
template <typename Op> static Value convLike(Op op, OpBuilder &b, Value input, Value weight) {
  Value result = ConvOp::create(b, op.getLoc(), input, weight, op.getStrides(), op.getDilations(),
                                op.getPadsLow(), op.getPadsHigh(), op.getGroups());
  Shape shape = shapeOf(result), wanted = shapeOf(op.getGrad());
  for (size_t dim = 2; dim < shape.size(); ++dim) {
    if (shape[dim] == wanted[dim])
      continue;
    shape[dim] = wanted[dim];
    result = SliceOp::create(b, op.getLoc(), tensorOf(shape, elementTypeOf(result)), result, dim,
                             Polynomial(), 1);
  }
  return result;
}

// A convolution and its gradients are one sum of products of three tensors: the gradient by either
// operand is the product of dy with the other one.
static Gradients convInputGrad(ConvInputGradOp op, Term dy) {
  return {convLike(op, *dy.b, dy, op.getWeight()),
          ConvWeightGradOp::create(*dy.b, op.getWeight().getType(), op.getGrad(), dy,
                                   op.getStrides(), op.getDilations(), op.getPadsLow(),
                                   op.getPadsHigh(), op.getGroups())};
}

static Gradients convWeightGrad(ConvWeightGradOp op, Term dy) {
  return {convLike(op, *dy.b, op.getInput(), dy),
          ConvInputGradOp::create(*dy.b, op.getInput().getType(), op.getGrad(), dy, op.getStrides(),
                                  op.getDilations(), op.getPadsLow(), op.getPadsHigh(),
                                  op.getGroups())};
}

static Gradients pool(PoolOp op, Term dy) {
  return {PoolGradOp::create(*dy.b, op.getInput().getType(), dy, op.getInput(), op.getKind(),
                             op.getKernel(), op.getStrides(), op.getDilations(), op.getPadsLow(),
                             op.getPadsHigh(), op.getCountPadding())};
}

void addContractionRules(RuleTable &table) {
  table.add<DotGeneralOp>(dotGeneral);
  table.add<GroupedMatmulOp>(groupedMatmul);
  table.add<GroupedWeightGradOp>(groupedWeightGrad);
  table.add<ConvOp>(conv);
  table.add<ConvInputGradOp>(convInputGrad);
  table.add<ConvWeightGradOp>(convWeightGrad);
  table.add<PoolOp>(pool);
}

} // namespace cleave::autodiff
