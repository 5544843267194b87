// See SpaceToDepth.h.
#include "passes/decompose/SpaceToDepth.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Direct.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::decompose {

namespace {

// One spatial dim of a convolution: sizes in elements before the rewrite, and in blocks after it.
struct SpatialDim {
  int64_t block;         // elements that become channels: the stride
  int64_t input, kernel; // elements
  int64_t low;           // zeros before the kernel, so that each window begins with a block
  int64_t kernelBlocks;  // of the kernel with its padding
  int64_t lowBlocks;     // zeros before the input
  int64_t inputBlocks;   // with elements of the input that windows cover
  int64_t allBlocks;     // of the input with its padding at both ends
};

SpatialDim spatialDim(int64_t input, int64_t kernel, int64_t output, int64_t stride, int64_t pad) {
  SpatialDim d{.block = stride, .input = input, .kernel = kernel};
  d.lowBlocks = llvm::divideCeil(pad, stride);
  d.low = d.lowBlocks * stride - pad;
  d.kernelBlocks = llvm::divideCeil(d.low + kernel, stride);
  d.allBlocks = output + d.kernelBlocks - 1;
  d.inputBlocks = std::min<int64_t>(llvm::divideCeil(input, stride), d.allBlocks - d.lowBlocks);
  return d;
}

// Builds the tensors of one convolution with more channels.
class Rewriter {
public:
  explicit Rewriter(Operation *op) : b_(op), loc_(op->getLoc()) {}

  // Rewrites a conv or a gradient of one, given its tensors in the roles of graph.conv.
  template <typename Op> void rewrite(Op op, Value input, Value weight, Value output) {
    const auto x = graph::staticShapeOf(input), w = graph::staticShapeOf(weight),
               y = graph::staticShapeOf(output);
    channels_ = x[1];
    const bool moves = channels_ < kChannels && llvm::product_of(y) > 0 &&
                       llvm::any_of(op.getStrides(), [](int64_t s) { return s > 1; }) &&
                       llvm::all_of(op.getDilations(), [](int64_t d) { return d == 1; });
    for (size_t d = 2; moves && d < x.size(); ++d)
      dims_.push_back(spatialDim(x[d], w[d], y[d], op.getStrides()[d - 2], op.getPadsLow()[d - 2]));
    filled_ = static_cast<int64_t>(llvm::alignTo(blockSize() * channels_, kChannels));
    const auto ones = b_.getDenseI64ArrayAttr(SmallVector<int64_t>(x.size() - 2, 1)),
               zeros = b_.getDenseI64ArrayAttr(SmallVector<int64_t>(x.size() - 2, 0));
    auto build = [&](Type type, Value first, Value second) -> Value {
      return Op::create(b_, loc_, type, first, second, moves ? ones : op.getStridesAttr(),
                        op.getDilationsAttr(), moves ? zeros : op.getPadsLowAttr(),
                        moves ? zeros : op.getPadsHighAttr(), op.getGroupsAttr());
    };
    Value result;
    if constexpr (std::is_same_v<Op, graph::ConvOp>)
      result = build(op.getType(), wideInput(input), wideWeight(weight));
    else if constexpr (std::is_same_v<Op, graph::ConvInputGradOp>)
      result =
          narrowInput(build(wideType(input, &SpatialDim::allBlocks), output, wideWeight(weight)));
    else
      result = narrowWeight(
          build(wideType(weight, &SpatialDim::kernelBlocks), output, wideInput(input)));
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }

private:
  int64_t blockSize() const {
    int64_t size = 1;
    for (const SpatialDim &d : dims_)
      size *= d.block;
    return size;
  }

  RankedTensorType typeOf(Value value, int64_t dim, int64_t size) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return type.clone(shape);
  }
  // Adds `low` zeros before the elements along a dim, and zeros after them up to this size.
  Value padded(Value value, int64_t dim, int64_t low, int64_t size) {
    RankedTensorType type = typeOf(value, dim, size);
    return type == value.getType()
               ? value
               : Value(graph::PadOp::create(b_, loc_, type, value, dim, Polynomial(low), 0, 0.0));
  }
  Value sliced(Value value, int64_t dim, int64_t start, int64_t size) {
    RankedTensorType type = typeOf(value, dim, size);
    return type == value.getType()
               ? value
               : Value(graph::SliceOp::create(b_, loc_, type, value, dim, Polynomial(start), 1));
  }
  // Adds zeros at the end of a dim, or removes elements, up to this size.
  Value resized(Value value, int64_t dim, int64_t size) {
    return graph::staticShapeOf(value)[dim] < size ? padded(value, dim, 0, size)
                                                   : sliced(value, dim, 0, size);
  }

  // From [n, c, blocks * block…] to [n, c, block…, blocks…].
  SmallVector<int64_t> splitOrder() const {
    SmallVector<int64_t> order = {0, 1};
    for (size_t inner : {1, 0})
      for (size_t d = 0; d < dims_.size(); ++d)
        order.push_back(static_cast<int64_t>(2 + 2 * d + inner));
    return order;
  }
  // A cast comes last, so that its kernel writes the new order.
  Value toDepth(Value value) {
    if (dims_.empty())
      return value;
    const Type element = graph::elementTypeOf(value);
    if (auto cast = value.getDefiningOp<graph::CastOp>())
      value = cast.getOperand();
    const auto shape = graph::staticShapeOf(value);
    graph::Shape split = {shape[0], shape[1]}, deep = {shape[0], shape[1] * blockSize()};
    for (auto [d, dim] : llvm::enumerate(dims_)) {
      split.push_back(shape[2 + d] / dim.block);
      split.push_back(dim.block);
      deep.push_back(shape[2 + d] / dim.block);
    }
    value = graph::buildTranspose(b_, graph::buildReshape(b_, value, split), splitOrder());
    return graph::buildReshape(b_, graph::buildCast(b_, value, element), deep);
  }
  Value toSpace(Value value) {
    if (dims_.empty())
      return value;
    const auto shape = graph::staticShapeOf(value);
    graph::Shape split = {shape[0], channels_}, whole = {shape[0], channels_};
    for (const SpatialDim &dim : dims_)
      split.push_back(dim.block);
    for (auto [d, dim] : llvm::enumerate(dims_)) {
      split.push_back(shape[2 + d]);
      whole.push_back(shape[2 + d] * dim.block);
    }
    value = graph::buildTranspose(b_, graph::buildReshape(b_, value, split),
                                  invertPermutationVector(splitOrder()));
    return graph::buildReshape(b_, value, whole);
  }

  Value wideInput(Value input) {
    for (auto [d, dim] : llvm::enumerate(dims_))
      input = resized(input, 2 + d, dim.inputBlocks * dim.block);
    input = toDepth(input);
    for (auto [d, dim] : llvm::enumerate(dims_))
      input = padded(input, 2 + d, dim.lowBlocks, dim.allBlocks);
    return padded(input, 1, 0, filled_);
  }
  Value narrowInput(Value grad) {
    grad = sliced(grad, 1, 0, blockSize() * channels_);
    for (auto [d, dim] : llvm::enumerate(dims_))
      grad = sliced(grad, 2 + d, dim.lowBlocks, dim.inputBlocks);
    grad = toSpace(grad);
    for (auto [d, dim] : llvm::enumerate(dims_))
      grad = resized(grad, 2 + d, dim.input);
    return grad;
  }
  Value wideWeight(Value weight) {
    for (auto [d, dim] : llvm::enumerate(dims_))
      weight = padded(weight, 2 + d, dim.low, dim.kernelBlocks * dim.block);
    return padded(toDepth(weight), 1, 0, filled_);
  }
  Value narrowWeight(Value grad) {
    grad = toSpace(sliced(grad, 1, 0, blockSize() * channels_));
    for (auto [d, dim] : llvm::enumerate(dims_))
      grad = sliced(grad, 2 + d, dim.low, dim.kernel);
    return grad;
  }
  // The type of a wide gradient: the narrow one's, with more channels and these spatial sizes.
  Type wideType(Value narrow, int64_t SpatialDim::*blocks) {
    auto type = cast<RankedTensorType>(narrow.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = filled_;
    for (auto [d, dim] : llvm::enumerate(dims_))
      shape[2 + d] = dim.*blocks;
    return type.clone(shape);
  }

  OpBuilder b_;
  Location loc_;
  int64_t channels_ = 0, filled_ = 0; // of the input, before and after the rewrite
  SmallVector<SpatialDim> dims_;      // empty: strides stay
};

bool isStatic(Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); }

bool hasOddChannels(Operation *op, Value input) {
  return !graph::isDirect(op) && op->getAttrOfType<IntegerAttr>("groups").getInt() == 1 &&
         graph::elementTypeOf(op->getOperand(0)).getIntOrFloatBitWidth() == 16 &&
         llvm::all_of(op->getOperands(), isStatic) && isStatic(op->getResult(0)) &&
         graph::staticShapeOf(input)[1] % kChannels != 0;
}

} // namespace

int64_t applySpaceToDepth(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (auto conv = dyn_cast<graph::ConvOp>(op); conv && hasOddChannels(op, conv.getInput()))
      found.push_back(op);
    else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op);
             grad && hasOddChannels(op, grad.getResult()))
      found.push_back(op);
    else if (auto grad = dyn_cast<graph::ConvWeightGradOp>(op);
             grad && hasOddChannels(op, grad.getInput()))
      found.push_back(op);
  });
  for (Operation *op : found) {
    Rewriter rewriter(op);
    if (auto conv = dyn_cast<graph::ConvOp>(op))
      rewriter.rewrite(conv, conv.getInput(), conv.getWeight(), conv.getResult());
    else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op))
      rewriter.rewrite(grad, grad.getResult(), grad.getWeight(), grad.getGrad());
    else if (auto grad = dyn_cast<graph::ConvWeightGradOp>(op))
      rewriter.rewrite(grad, grad.getInput(), grad.getResult(), grad.getGrad());
  }
  return static_cast<int64_t>(found.size());
}

#define GEN_PASS_DEF_SPACETODEPTHPASS
#include "passes/decompose/Passes.h.inc"

namespace {

struct SpaceToDepthPass : impl::SpaceToDepthPassBase<SpaceToDepthPass> {
  void runOnOperation() override { applySpaceToDepth(getOperation()); }
};

} // namespace

void registerSpaceToDepthPass() { PassRegistration<SpaceToDepthPass>(); }

} // namespace cleave::decompose
